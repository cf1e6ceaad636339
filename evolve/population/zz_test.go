package population

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

func TestZZTokens(t *testing.T) {
	for _, c := range []struct{ name, p string }{
		{"spaces", strings.Repeat(" ", 200_000)+"x"},
		{"nbsp", strings.Repeat("\u00a0", 100_000)+"x"},
		{"one line", strings.Repeat("a+", 500_000)},
		{"quotes", strings.Repeat("\"", 1_000_000)},
		{"ticks", strings.Repeat("`", 1_000_001)},
		{"slashes", strings.Repeat("/ ", 500_000)},
		{"eq slashes", strings.Repeat("=/", 500_000)},
		{"block", strings.Repeat("/*", 500_000)},
		{"triple", strings.Repeat(`"""'`, 250_000)},
		{"nl", strings.Repeat("\n", 1000_000)},
	} {
		for _, l := range []string{"javascript", "python", ""} {
			t0 := time.Now()
			essence(c.p, l)
			shingles(c.p, l, 5)
			if d := time.Since(t0); d > 500*time.Millisecond { fmt.Println(c.name, l, d) }
		}
	}
}

func TestZZAncestor(t *testing.T) {
	v := &View{elders: newElders()}
	add := func(id int, parents ...int) *Member {
		m := &Member{ID: id, Parents: parents, Candidate: eval.Candidate{Program: fmt.Sprint(id), Result: eval.Result{Valid: true, Score: float64(id)}}}
		v.elders.add(m)
		return m
	}
	var ms []*Member
	for i := range 10000 {
		switch {
		case i == 0:
			ms = append(ms, add(0))
		case i == 1:
			ms = append(ms, add(1, 0))
		default:
			ms = append(ms, add(i, i-1-i%7%min(i, 7), i/2))
		}
	}
	t0 := time.Now()
	for i := range 10 {
		v.Ancestor(ms[9999-i], ms[9980-3*i])
	}
	fmt.Println("10 ancestors", time.Since(t0))
}
