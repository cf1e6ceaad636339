package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/result"
)

// What an interval leaves open is never said to be found.
func TestWords(t *testing.T) {
	at := func(v, low, high float64) analysis.Interval { return analysis.Interval{Value: v, Low: low, High: high} }
	split := func(calls, n, low, high, interior float64) []analysis.SplitInterval {
		return []analysis.SplitInterval{{Calls: calls, T: at(calls/n, calls/high, calls/low), N: at(n, low, high),
			Interior: interior}}
	}
	for _, c := range []struct {
		why         string
		c           analysis.Interval
		splits      []analysis.SplitInterval
		found, open []string
		cells       []analysis.Cell
	}{
		{"both are known", at(-0.046, -0.057, -0.035), split(4096, 12, 7, 24, 1),
			[]string{"c = −0.046 ± 0.011: depth and breadth complement each other",
				"for C = 4096 the optimum is N ≈ 12 [7, 24], T ≈ 341; 30 more seeds of each breadth would halve the interval"}, nil,
			nil},
		{"the best mean is where the fit says", at(-0.046, -0.057, -0.035), split(64, 4, 2, 8, 1),
			[]string{"c = ", "for C = 64 the optimum is"}, nil,
			[]analysis.Cell{{T: 8, N: 8, Mean: 0.7}, {T: 64, N: 1, Mean: 0.6}, {T: 128, N: 1, Mean: 0.9}}},
		{"no breadth is nearer to the fit's", at(-0.046, -0.057, -0.035), split(64, 1.5, 1.2, 1.9, 1),
			[]string{"c = ", "for C = 64 the optimum is"}, nil,
			[]analysis.Cell{{T: 32, N: 2, Mean: 0.7}, {T: 16, N: 4, Mean: 0.6}}},
		{"the best mean is elsewhere", at(-0.046, -0.057, -0.035), split(64, 4, 2, 8, 1),
			[]string{"c = ", "for C = 64 the optimum is"},
			[]string{"for C = 64: whether the surface fits near its optimum; the best mean is at N = 1, outside [2, 8]"},
			[]analysis.Cell{{T: 8, N: 8, Mean: 0.6}, {T: 64, N: 1, Mean: 0.7}}},
		{"a lopsided interval has both ends", at(-0.046, -0.09, -0.035), nil, []string{"c = −0.046 [−0.09, −0.035]: depth"},
			nil, nil},
		{"they stand in for each other", at(0.02, 0.01, 0.03), split(64, 1, 1, 1, 0),
			[]string{"c = 0.02 ± 0.01: depth and breadth stand in", "for C = 64 an extreme is best: N = 1 [1, 1]"}, nil, nil},
		{"the sign is open", at(-0.01, -0.03, 0.01), nil, nil, []string{"c = −0.01 ± 0.02 spans 0"}, nil},
		{"the split is open", at(-0.046, -0.057, -0.035), split(64, 8, 1, 64, 1),
			[]string{"c = "}, []string{"for C = 64: the best split; its interval holds every N from 1 to 64"}, nil},
		{"whether it is inside is open", at(-0.046, -0.057, -0.035), split(64, 4, 1, 20, 0.6),
			[]string{"c = "}, []string{"for C = 64: whether the best split is inside, which it is in 60 % of samples; N ≈ 4 [1, 20]"}, nil},
	} {
		s := &study{Seeds: 10, Intervals: &analysis.SurfaceIntervals{C: c.c, Splits: c.splits}, Cells: c.cells}
		s.say()
		if !begin(s.Found, c.found) || !begin(s.Open, c.open) {
			t.Errorf("%s: found %q, open %q", c.why, s.Found, s.Open)
		}
	}
}

// begin reports whether each of some lines begins as it should.
func begin(lines, with []string) bool {
	return slices.EqualFunc(lines, with, strings.HasPrefix)
}

// Of a difference no more is said than its interval and the number of runs allow.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		why       string
		runs      int
		low, high float64
		want      string
	}{
		{"above 0", 10, 0.1, 0.3, "first is better"},
		{"below 0", 10, -0.3, -0.1, "second is better"},
		{"spans 0", 10, -0.1, 0.3, "cannot be told apart yet; 30 more runs"},
		{"few runs", 5, 0.1, 0.3, "first may be better; intervals of fewer than 10 runs"},
		{"few runs, below 0", 5, -0.3, -0.1, "second may be better"},
		{"all alike", 10, 0, 0, "no difference was seen"},
	} {
		got := comparison{First: "first", Second: "second", FirstRuns: 20,
			SecondRuns: c.runs}.verdict(analysis.Interval{Value: (c.low + c.high) / 2, Low: c.low, High: c.high})
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestMoney(t *testing.T) {
	f, err := result.Read(strings.NewReader(`{"trajectory": [{"generation": 0}, {"generation": 1, "gen_time_s": 2,
		"children": [{"attempts": [{"usage": null}, {"usage": {"prompt_tokens": 1000, "completion_tokens": 500}}]}, {"attempts": []}],
		"asides": [{"attempts": [{"usage": {"prompt_tokens": 10, "completion_tokens": 20}}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := readSpent(f)
	if got, want := s.dollars(1, 3), (1010.0+3*520)/1e6; len(got) != 1 || got[0] != want ||
		!slices.Equal(s.seconds, []float64{2}) {
		t.Errorf("%v dollars in %v seconds, want %v in 2", got, s.seconds, want)
	}
}

// What was asked before the first generation is money and FLOPs of it, as its calls are.
func TestMoneyBeforeTheFirstGeneration(t *testing.T) {
	f, err := parse([]byte(`{"task": "text", "T": 1, "N": 1, "seed": 1, "flops": {"params_active": 10}, "flops_per_generation": [400],
		"trajectory": [{"generation": 0, "best_fitness": 0.1, "asides": [{"final_status": "ok", "attempts": [{"status": "ok", "usage": {"prompt_tokens": 100, "completion_tokens": 50}}]}]},
		{"generation": 1, "best_fitness": 0.2, "children": [{"final_status": "ok", "fitness": 0.2, "attempts": [{"status": "ok", "usage": {"prompt_tokens": 10, "completion_tokens": 10}}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	calls, flops, dollars := answered(f), f.flops, f.dollars(1, 1)
	if len(calls) != 1 || calls[0] != 2 || flops[0] != 400+2*10*150 || dollars[0] != 170/1e6 {
		t.Errorf("%v calls, %v FLOPs, %v dollars; want 2, 3400 and 0.00017", calls, flops, dollars)
	}
}

// A bandit's rounds are the generations of the arms that it pulled, in turn.
func TestRounds(t *testing.T) {
	f, err := result.Read(strings.NewReader(`{"selections": [1, 0, 1], "flops_per_round": [5, 6, 7], "arm_results": [
		{"trajectory": [{"best_fitness": 1}, {"best_fitness": 2, "gen_time_s": 10}]},
		{"trajectory": [{"best_fitness": 1}, {"best_fitness": 4, "gen_time_s": 20}, {"best_fitness": 3, "gen_time_s": 30}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := readSpent(f)
	if !slices.Equal(s.seconds, []float64{20, 10, 30}) || !slices.Equal(s.flops, []float64{5, 6, 7}) ||
		!slices.Equal(s.arms[1], []float64{1, 4, 4}) {
		t.Errorf("%+v", s)
	}
}

// A file that lacks the generation of a round is read all the same, and says of no round what it spent.
func TestRoundWithoutGeneration(t *testing.T) {
	f, err := parse([]byte(`{"task":"cp","T_total":1,"N":1,"bandit_seed":0,"selections":[0],"running_best":[1],"arm_results":[{"trajectory":[{"best_fitness":0}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.allocation(); err == nil || !strings.Contains(err.Error(), "round 0") || len(f.flops) != 0 {
		t.Errorf("FLOPs %v, allocation: %v", f.flops, err)
	}
}

func TestDepths(t *testing.T) {
	for _, last := range []int{0, 1, 2, 10, 1000, 100_000} {
		d := depths(last)
		if last == 0 && len(d) == 0 {
			continue
		}
		if d[0] != 1 || d[len(d)-1] != last || !slices.IsSorted(d) || len(d) > mostPoints+1 {
			t.Errorf("%d generations: %v", last, d)
		}
	}
}
