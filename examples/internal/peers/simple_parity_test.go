package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// simplePlay is what one of SkyDiscover's simple searches was given, which parents it drew meanwhile, and what it keeps,
// draws and shows after some programs.
type simplePlay struct {
	Name     string   `json:"name"`
	Programs []scored `json:"programs"`
	Parents  []int    `json:"parents"`
	States   []struct {
		After int            `json:"after"`
		Kept  []int          `json:"kept"`
		Drawn map[string]int `json:"drawn"`
		Shown map[string]int `json:"shown"`
	} `json:"states"`
}

// simpleConfigs are the presets of the record.
var simpleConfigs = map[string]func(Setting) population.Config{"beam": Beam, "best-of-n": BestOfN, "top-k": TopK}

// Given the same programs, beam search, best-of-N and top-k keep, draw and show what SkyDiscover's do.
func TestSimpleSearchesParity(t *testing.T) {
	var record struct {
		Draws int          `json:"draws"`
		Plays []simplePlay `json:"plays"`
	}
	recorded(t, "simple", &record)
	for n, play := range record.Plays {
		cfg := simpleConfigs[play.Name](Setting{})
		numbers := map[float64]int{} // of programs by score
		for i, p := range play.Programs {
			if i > 0 {
				selected(t, cfg, play.Parents[i-1], fmt.Sprintf("%s, play %d, child %d", play.Name, n, i))
			}
			m := &population.Member{ID: i}
			m.Program, m.Result = p.text, eval.Result{Valid: true, Score: p.score}
			cfg.Archive.Add(m)
			numbers[p.score] = i
			for _, want := range play.States {
				if want.After != i {
					continue
				}
				what := fmt.Sprintf("%s, play %d, after %d", play.Name, n, i)
				if play.Name == "beam" {
					if kept := ids(cfg.Archive.Members()); !slices.Equal(kept, want.Kept) {
						t.Fatalf("%s: kept are %v, want %v", what, kept, want.Kept)
					}
				}
				drawn, shown := drawsOf(cfg, numbers, play.Name, record.Draws, what)
				alike(t, what+": parents", want.Drawn, drawn)
				if i == 0 { // a lone program, which they show beside itself
					continue
				}
				alike(t, what+": shown", want.Shown, shown)
			}
		}
	}
}

func ids(members []*population.Member) (list []int) {
	for _, m := range members {
		list = append(list, m.ID)
	}
	slices.Sort(list)
	return list
}

// selected makes the search's selector go on as if it had drawn the parent of the record.
func selected(t *testing.T, cfg population.Config, parent int, what string) {
	t.Helper()
	if s, ok := cfg.Select.(byBeam); ok {
		for _, m := range s.list {
			if m.ID == parent && !slices.Contains(s.parents, m) {
				s.parents = append(s.parents, m)
			}
		}
		return
	}
	if m := cfg.Select.Select(cfg.Archive.Members(), nil); m.ID != parent {
		t.Fatalf("%s is of %d, want %d", what, m.ID, parent)
	}
}

// drawsOf returns how often which parent is drawn, and what is shown beside it: of best-of-N each program, else the list.
func drawsOf(cfg population.Config, numbers map[float64]int, name string, n int, what string) (parents, shown map[string]int) {
	parents, shown = map[string]int{}, map[string]int{}
	r := stream.New(1, what, 0)
	for range n {
		parent := drawnOnce(cfg, r)
		parents[strconv.Itoa(parent.ID)]++
		v := &population.View{Parent: parent, All: cfg.Archive, Part: cfg.Archive, Rand: r}
		var list []string
		for _, c := range slices.Backward(cfg.Operators[0].(population.Rewrite).Show(v)[0].Programs) {
			list = append(list, strconv.Itoa(numbers[c.Result.Score]))
		}
		if name == "best-of-n" {
			for _, id := range list {
				shown[id]++
			}
			continue
		}
		shown[fmt.Sprint(parent.ID, ": ", strings.Join(list, " "))]++
	}
	return parents, shown
}

// drawnOnce draws a parent and puts the selector back.
func drawnOnce(cfg population.Config, r *rand.Rand) *population.Member {
	switch s := cfg.Select.(type) {
	case byBeam:
		before := len(s.parents)
		m := s.Select(cfg.Archive.Members(), r)
		s.parents = s.parents[:before]
		return m
	case *patient:
		before := *s
		m := s.Select(cfg.Archive.Members(), r)
		*s = before
		return m
	}
	return cfg.Select.Select(cfg.Archive.Members(), r)
}

// The distance by hand.
func TestTrigramDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b   string
		want   float64
		reason string
	}{
		{"abcd", "abcd", 0, "the program itself"},
		{"abcd", "bcde", 1 - 1.0/3, "one set of three has both"},
		{"ab", "cd", 0, "none has three characters"},
		{"ab", "abc", 1, "one has none"},
		{"", "abc", 1, "one is empty"},
	} {
		two := shapesOf([]*population.Member{programOf(tt.a), programOf(tt.b)})
		if d := two[0].distance(two[1]); math.Abs(d-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tt.reason, d, tt.want)
		}
	}
}

func programOf(text string) *population.Member {
	m := &population.Member{}
	m.Program = text
	return m
}
