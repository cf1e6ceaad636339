package bandit_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestUCB1Holds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.UCB1{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.UCB1{C: 0.01} })
}

func TestUCB1(t *testing.T) {
	type rewards [][]float64 // by arm
	for _, tt := range []struct {
		reason  string
		c       float64
		seen    rewards
		closed  []int
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", 0, rewards{{}, {}, {}}, nil, nil, 0},
		{"unpulled arms in index order", 0, rewards{{1}, {}, {}}, nil, nil, 1},
		{"an unpulled arm before any bound", 0, rewards{{1, 1, 1}, {1}, {}}, nil, nil, 2},
		{"0.5 + √2·sqrt(ln 3/2) = 1.548 < 0.7 + √2·sqrt(ln 3/1) = 2.182", 0, rewards{{1, 0}, {0.7}}, nil, nil, 1},
		{"with c = 0.1, 0.5 + 0.1·sqrt(ln 3/2) = 0.574 > 0.45 + 0.1·sqrt(ln 3/1) = 0.555", 0.1, rewards{{1, 0}, {0.45}}, nil,
			nil, 0},
		{"ties go to the lowest arm", 0, rewards{{0.5}, {0.7}, {0.7}}, nil, nil, 1},
		{"a closed arm is passed over", 0, rewards{{0.5}, {0.9}, {0.7}}, []int{1}, nil, 2},
		{"a closed arm that is unpulled too", 0, rewards{{0.5}, {}, {0.7}}, []int{1}, nil, 2},
		{"t counts closed arms: it is 8, and 0.4 + 1.020 < 0 + 1.442; with 6 it would be 0.4 + 0.946 > 0 + 1.339", 0,
			rewards{{0.4, 0.4, 0.4, 0.4}, {0, 0}, {9, 9}}, []int{2}, nil, 1},
		{"a first pull pending: not unpulled", 0, rewards{{}, {}, {}}, nil, []int{1, 0, 0}, 1},
		{"all first pulls pending: the one with the fewest", 0, rewards{{}, {}, {}}, nil, []int{2, 1, 1}, 1},
		{"pending without outcome: the mean of all, so the same mean and a wider bound", 0, rewards{{0.5, 0.5}, {}}, nil,
			[]int{0, 1}, 1},
		{"pending pulls narrow the bound", 0, rewards{{0.5}, {0.5}}, nil, []int{1, 0}, 1},
	} {
		p := &bandit.UCB1{C: tt.c}
		for arm, xs := range tt.seen {
			for _, x := range xs {
				p.Update(outcome(arm), x)
			}
		}
		open, pending := all(len(tt.seen)), make([]int, len(tt.seen))
		for _, arm := range tt.closed {
			open[arm] = false
		}
		copy(pending, tt.pending)
		want := make([]float64, len(open))
		want[tt.want] = 1
		if got := askPending(p, open, pending); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want arm %d", tt.reason, got, tt.want)
		}
	}
}

// The paper's code, played over trajectories, chose these arms. Where rounds per arm were capped it
// went on with another arm than the one chosen when that was exhausted; the choice is still UCB1's.
func TestUCB1ChoosesAsThePapersCode(t *testing.T) {
	var runs []struct {
		Arms, Seed, Cap    int
		Selections, Chosen []int
		Rewards            [][]float64 // by arm and pull
	}
	data, err := os.ReadFile("testdata/ucb1.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	choices := 0
	for _, run := range runs {
		if run.Chosen == nil {
			run.Chosen = run.Selections
		}
		p, pulls := &bandit.UCB1{}, make([]int, run.Arms)
		for i, arm := range run.Selections {
			if got := slices.Index(ask(p, all(run.Arms)), 1); got != run.Chosen[i] {
				t.Errorf("%d arms, seed %d, cap %d: choice %d is arm %d, want %d", run.Arms, run.Seed, run.Cap, i, got,
					run.Chosen[i])
				break
			}
			p.Update(outcome(arm), run.Rewards[arm][pulls[arm]])
			pulls[arm]++
			choices++
		}
	}
	if len(runs) != 18 || choices < 1500 {
		t.Errorf("checked %d choices of %d runs", choices, len(runs))
	}
}

// An index computed anew from the whole history at each draw picks the same arms.
func TestUCB1Oracle(t *testing.T) {
	rng := newRand(2)
	for range 20 {
		arms, c := 1+rng.IntN(8), 0.1+rng.Float64()
		p, history := &bandit.UCB1{C: c}, make([][]float64, arms)
		for n := range 200 {
			open := all(arms)
			open[rng.IntN(arms)] = arms == 1
			want := oracleUCB1(history, open, c, n)
			if got := slices.Index(ask(p, open), 1); got != want {
				t.Fatalf("%d arms, c %v, draw %d: arm %d, want %d", arms, c, n, got, want)
			}
			x := rng.Float64()
			history[want] = append(history[want], x)
			p.Update(outcome(want), x)
		}
	}
}

func oracleUCB1(history [][]float64, open []bool, c float64, t int) int {
	best, bound := -1, math.Inf(-1)
	for arm, xs := range history {
		if !open[arm] {
			continue
		}
		if len(xs) == 0 {
			return arm
		}
		var sum float64
		for _, x := range xs {
			sum += x
		}
		n := float64(len(xs))
		if b := sum/n + c*math.Sqrt(math.Log(float64(t))/n); b > bound {
			best, bound = arm, b
		}
	}
	return best
}

// Theorem 1 of Auer, Cesa-Bianchi and Fischer (2002): the expected pulls of an arm that is Δ worse
// than the best are at most 8·ln n/Δ² + 1 + π²/3. With Δ = 0.8 and n = 5000 that is 110.8. Each
// mean is over 40 runs, and is allowed five standard errors above the bound; playing at random
// would make it 1667.
func TestUCB1Regret(t *testing.T) {
	const rounds, runs, delta = 5000, 40, 0.8
	bound := 8*math.Log(rounds)/(delta*delta) + 1 + math.Pi*math.Pi/3
	instance := []func(*rand.Rand) float64{bernoulli(0.1), bernoulli(0.9), bernoulli(0.1)}
	for _, arm := range []int{0, 2} {
		var sum, squares float64
		for seed := range uint64(runs) {
			n := float64(play(t, &bandit.UCB1{}, rounds, seed, instance)[arm])
			sum += n
			squares += n * n
		}
		mean := sum / runs
		se := math.Sqrt((squares/runs - mean*mean) / runs)
		if mean > bound+5*se {
			t.Errorf("arm %d was pulled %v times on average, bound %v", arm, mean, bound)
		}
	}
}

// Once nearly everything is forgotten ln t would be negative; the bound is then the mean.
func TestUCB1Forgets(t *testing.T) {
	p := &bandit.UCB1{}
	p.Update(outcome(0), 0.5)
	p.Update(outcome(1), 0.9)
	p.Forget(1e-3)
	if got := ask(p, all(2)); !slices.Equal(got, []float64{0, 1}) {
		t.Errorf("%v, want the arm of the larger mean", got)
	}
}

func TestUCB1Parameters(t *testing.T) {
	for _, c := range []float64{-1, math.NaN(), math.Inf(1)} {
		wantPanic(t, "C is not a width", func() { ask(&bandit.UCB1{C: c}, all(2)) }, "UCB1.C is")
	}
	if a, b := (&bandit.UCB1{}).String(), (&bandit.UCB1{C: math.Sqrt2}).String(); a != b ||
		a != "UCB1(c=1.4142135623730951)" {
		t.Errorf("0 prints %q and its default %q", a, b)
	}
}
