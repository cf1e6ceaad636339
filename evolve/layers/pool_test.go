package layers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

func candidate(program string, cases ...float64) eval.Candidate {
	c := eval.Candidate{Program: program, Result: eval.Result{Valid: true, Cases: cases}}
	for _, s := range cases {
		c.Result.Score += s / float64(len(cases))
	}
	return c
}

func TestPoolRules(t *testing.T) {
	const long = "function priority(a, b, w, d) { const x = a * w + b * d; const y = a - b; return x * y + w - d; }"
	bad := candidate("bad", 9, 9, 9)
	bad.Result.Valid = false
	plain := candidate("plain", 0.4)
	plain.Result.Cases = nil
	found := []eval.Candidate{
		bad,
		candidate("all", 5, 5, 5),
		candidate("one", 8, 0, 1),
		candidate("two", 0, 7, 1),
		candidate("most", 6, 6, 5),
		candidate("most ", 6, 6, 5),
		candidate("worst", 1, 1, 1),
	}
	similar := []eval.Candidate{
		candidate(long, 3),
		candidate(strings.Replace(long, "w - d", "w - a", 1), 2),
		candidate("// another\n"+strings.ReplaceAll(long, ";", ";\n"), 4),
		candidate("return d", 1),
	}
	for _, c := range []struct {
		why      string
		of       []eval.Candidate
		most     int
		language string
		want     string
	}{
		{"nothing was found", nil, 8, "", ""},
		{"nothing is valid", []eval.Candidate{bad}, 8, "", ""},
		{"the best, then what helps the most; what does not help is left out", found, 8, "", "most one two"},
		{"the best two of them", found, 2, "", "most one"},
		{"cases of different number: what the first lack does not count", []eval.Candidate{plain, candidate("one", 0.3)}, 8,
			"", "plain"},
		{"without cases by score, one of two equal programs", without(found), 8, "", "most all one two worst"},
		{"the best two by score", without(found), 2, "", "most all"},
		{"comments and layout do not make a program another", without(similar), 8, "javascript", "4 2 1"},
		{"as text, layout counts", without(similar), 8, "", "4 3 2 1"},
	} {
		var got []string
		for _, b := range pick(c.of, c.most, c.language) {
			name := strings.TrimSpace(b.Program)
			if len(b.Program) > 6 {
				name = fmt.Sprint(b.Result.Score)
			}
			got = append(got, name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: the pool is %q, want %q", c.why, s, c.want)
		}
	}
}

// without returns candidates whose evaluator says no cases.
func without(all []eval.Candidate) []eval.Candidate {
	all = slices.Clone(all)
	for i := range all {
		all[i].Result.Cases = nil
	}
	return all
}

func TestPickLeavesWhatItWasGiven(t *testing.T) {
	found := []eval.Candidate{candidate("b", 1, 2), candidate("a", 3, 0), candidate("c", 0, 9)}
	pick(found, 8, "")
	if found[0].Program != "b" || found[1].Program != "a" || found[2].Program != "c" {
		t.Errorf("the list is in another order: %v", found)
	}
}
