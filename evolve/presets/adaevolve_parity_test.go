package presets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// adaEvolveState is what a database holds: the programs of each island by number, the share of exploration of each, how
// often each was visited, and which island is next after 40 and after 90 children.
type adaEvolveState struct {
	After     int        `json:"after"`
	Islands   [][]string `json:"islands"`
	Intensity []float64  `json:"intensity"`
	Visits    []int      `json:"visits"`
	Next      []int      `json:"next"`
}

type adaEvolveDraw struct {
	After   int                 `json:"after"`
	Island  int                 `json:"island"`
	Parents map[string]int      `json:"parents"`
	Shown   map[string][]string `json:"shown"`
}

// state returns what the islands hold.
func (a *adaptive) state(after int) adaEvolveState {
	s := adaEvolveState{After: after, Next: []int{}}
	few := false
	for _, l := range a.islands {
		var of []string
		for _, r := range l.list {
			of = append(of, strconv.Itoa(r.ID))
		}
		slices.Sort(of)
		s.Islands, s.Intensity = append(s.Islands, of), append(s.Intensity, l.intensity())
		s.Visits, few = append(s.Visits, l.visits), few || l.visits < 3
	}
	for _, n := range []int{40, 90} {
		if p := make([]float64, len(a.islands)); !few {
			bestNext{a}.Probs(p, bandit.Round{T: n + 1, Open: []bool{true, true}})
			s.Next = append(s.Next, slices.Index(p, 1))
		}
	}
	return s
}

// Given the same programs, the islands hold what AdaEvolve's do, and draw as they do.
func TestAdaEvolveParity(t *testing.T) {
	var record struct {
		Draws int `json:"draws"`
		Plays []struct {
			Programs []scored         `json:"programs"`
			On       []int            `json:"on"`   // which island each was given to
			Then     []int            `json:"then"` // which is drawn next
			States   []adaEvolveState `json:"states"`
			Draws    []adaEvolveDraw  `json:"draws"`
		} `json:"plays"`
	}
	recorded(t, "adaevolve", &record)
	for n, play := range record.Plays[:notrun.Length(1, len(record.Plays))] {
		a := newAdaptive(2, 20)
		for i, p := range play.Programs {
			m := population.Member{ID: i}
			m.Program, m.Result = p.text, eval.Result{Valid: true, Score: p.score}
			if i == 0 {
				a.islands[1].Add(m)
			} else {
				adapts{adaptive: a}.Follow(population.Birth{})
			}
			a.islands[play.On[i]].Add(m)
			a.settle(a.islands[play.Then[i]])
			for _, want := range play.States {
				if want.After != i {
					continue
				}
				if diff := cmp.Diff(want, a.state(i), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
					t.Fatalf("play %d, after %d programs (-theirs +ours):\n%s", n, i, diff)
				}
			}
			for _, draw := range play.Draws {
				if draw.After == i {
					what := fmt.Sprintf("play %d, island %d after %d", n, draw.Island, i)
					a.islands[draw.Island].drawn(t, what, draw, record.Draws)
				}
			}
		}
	}
}

// drawn compares what the island draws.
func (l *niche) drawn(t *testing.T, what string, theirs adaEvolveDraw, n int) {
	t.Helper()
	modes := map[string]string{explores: "explora", exploits: "exploit", balances: "balance"}
	parents := map[string]int{}
	r := stream.New(1, what, 0)
	for range n {
		mode := l.mode(r)
		parent := l.parent(mode, r)
		own := strconv.Itoa(parent.ID)
		parents[modes[mode]+" "+own]++
		want, ok := theirs.Shown[own]
		if !ok {
			continue // too rare for their draws
		}
		var shown []string
		for _, m := range l.context(parent) {
			shown = append(shown, strconv.Itoa(m.ID))
		}
		if slices.Sort(shown); !slices.Equal(shown, want) {
			t.Fatalf("%s: beside %s are shown %v, want %v", what, own, shown, want)
		}
	}
	alike(t, what, theirs.Parents, parents)
}

// The share of exploration by hand, from the formulas.
func TestAdaEvolveIntensity(t *testing.T) {
	g := gains{own: math.Inf(-1)}
	for i, tt := range []struct {
		score, want float64
		reason      string
	}{
		{2, 0.15 + 0.35/(1+math.Sqrt(0.1+tiny)), "the first program is a gain of 1"},
		{1, 0.15 + 0.35/(1+math.Sqrt(0.1+tiny)), "no gain changes nothing"},
		{3, 0.15 + 0.35/(1+math.Sqrt(0.09+0.1*0.25+tiny)), "a gain of a half"},
	} {
		if g.note(tt.score, g.own, false); math.Abs(g.intensity()-tt.want) > 1e-6 {
			t.Errorf("%s: the share is %v, want %v", tt.reason, g.intensity(), tt.want)
		}
		if g.visits != i+1 {
			t.Errorf("%s: %d visits", tt.reason, g.visits)
		}
	}
}
