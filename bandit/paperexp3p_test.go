package bandit_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

func TestPaperEXP3PHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.PaperEXP3P{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.PaperEXP3P{Eta: 5, Gamma: 1e-6} })
}

// With two arms and the paper's constants ĝ of a first pull is g/(0.5 + 0.025), so a reward of 1
// makes the weight w = exp(0.07/0.525) = 1.142631 and the chance 0.9·w/(w + 1) + 0.05 = 0.529956.
func TestPaperEXP3P(t *testing.T) {
	const one, both, even = 0.5299556344260182, 0.5149944469124703, 0.5
	half := func(arm int) bandit.Pull { return bandit.Pull{Arm: arm, Prob: 0.5} }
	for _, tt := range []struct {
		reason  string
		pulls   []bandit.Pull
		rewards []float64
		want    float64 // chance of arm 0
	}{
		{"no outcome: even", nil, nil, even},
		{"a reward of 1", []bandit.Pull{half(0)}, []float64{1}, one},
		{"a reward of 0 leaves the weights", []bandit.Pull{half(0)}, []float64{0}, even},
		{"the other arm's", []bandit.Pull{half(1)}, []float64{1}, 1 - one},
		{"clipped above", []bandit.Pull{half(0)}, []float64{1e9}, one},
		{"clipped below", []bandit.Pull{half(0)}, []float64{-1e9}, even},
		{"two pending drawn at 0.5: the second is not weighed with the chance after the first",
			[]bandit.Pull{half(0), half(1)}, []float64{1, 0.5}, both},
		{"the same two the other way round", []bandit.Pull{half(1), half(0)}, []float64{0.5, 1}, both},
	} {
		p := &bandit.PaperEXP3P{}
		ask(p, all(2))
		for i, pull := range tt.pulls {
			p.Update(pull, tt.rewards[i])
		}
		if got := ask(p, all(2)); !near(got, []float64{tt.want, 1 - tt.want}, 1e-15) {
			t.Errorf("%s: %v, want %v for arm 0", tt.reason, got, tt.want)
		}
	}
}

// linearEXP3P is the formula as it stands, in the linear domain.
type linearEXP3P struct {
	eta, gamma float64
	w          []float64
}

func (l *linearEXP3P) probs(open []bool) []float64 {
	var sum, n float64
	for arm, ok := range open {
		if ok {
			sum += l.w[arm]
			n++
		}
	}
	p := make([]float64, len(open))
	for arm, ok := range open {
		if ok {
			p[arm] = (1-l.gamma)*l.w[arm]/sum + l.gamma/n
		}
	}
	return p
}

func (l *linearEXP3P) update(arm int, p, g float64) {
	l.w[arm] *= math.Exp(l.eta * g / (p + l.gamma/(2*float64(len(l.w)))))
}

// Over a few hundred rounds the linear domain still holds and must agree, with arms closing and
// opening and three pending pulls.
func TestPaperEXP3POracle(t *testing.T) {
	rng := newRand(3)
	for _, arms := range []int{1, 2, 3, 10, 50} {
		p := &bandit.PaperEXP3P{}
		oracle := &linearEXP3P{eta: 0.07, gamma: 0.1}
		for range arms {
			oracle.w = append(oracle.w, 1)
		}
		var waiting []bandit.Pull
		for round := range 300 {
			open := all(arms)
			open[rng.IntN(arms)] = arms == 1
			got, want := ask(p, open), oracle.probs(open)
			if !near(got, want, 1e-9) {
				t.Fatalf("%d arms, round %d: %v, want %v", arms, round, got, want)
			}
			arm := rng.IntN(arms)
			for !open[arm] {
				arm = rng.IntN(arms)
			}
			if waiting = append(waiting, bandit.Pull{Arm: arm, Prob: want[arm]}); len(waiting) > 3 {
				pull, g := waiting[0], rng.Float64()
				p.Update(pull, g)
				oracle.update(pull.Arm, pull.Prob, g)
				waiting = waiting[1:]
			}
		}
	}
}

// Ten million rewards of 1 make a weight whose logarithm is beyond a million.
func TestPaperEXP3PStaysFinite(t *testing.T) {
	p := &bandit.PaperEXP3P{}
	ask(p, all(3))
	for range notrun.Length(1_000_000, 10_000_000) {
		p.Update(bandit.Pull{Arm: 1, Prob: 0.1 / 3}, 1)
	}
	if got, want := ask(p, all(3)), []float64{0.1 / 3, 0.9 + 0.1/3, 0.1 / 3}; !near(got, want, 1e-15) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := ask(p, []bool{true, false, true}), []float64{0.5, 0, 0.5}; !near(got, want, 1e-15) {
		t.Errorf("the heavy arm closed: %v, want %v", got, want)
	}
}

// On an easy instance nearly all mass goes to the best arm and the others keep γ/K. Then the pulls
// of one of those in n draws are at least binomial(n, γ/K); five standard deviations are allowed.
func TestPaperEXP3PDraws(t *testing.T) {
	const n, floor = 20000, 0.1 / 4
	p := &bandit.PaperEXP3P{}
	pulls := play(t, p, n, 4, []func(*rand.Rand) float64{bernoulli(0.2), bernoulli(0.2), bernoulli(0.8), bernoulli(0.2)})
	for arm, got := range pulls {
		least := n*floor - 5*math.Sqrt(n*floor*(1-floor))
		if arm == 2 {
			least = 0.8 * n // of the 0.925·n once it has converged
		}
		if float64(got) < least {
			t.Errorf("arm %d was pulled %d times of %d, want at least %v", arm, got, n, least)
		}
	}
	if got, want := ask(p, all(4)), []float64{floor, floor, 1 - 3*floor, floor}; !near(got, want, 1e-9) {
		t.Errorf("ended at %v, want %v", got, want)
	}
}

func TestPaperEXP3PParameters(t *testing.T) {
	for _, tt := range []struct {
		reason string
		p      bandit.PaperEXP3P
		names  string
	}{
		{"a rate below 0 punishes rewards", bandit.PaperEXP3P{Eta: -0.1}, "PaperEXP3P.Eta is -0.1"},
		{"a rate that is none", bandit.PaperEXP3P{Eta: math.NaN()}, "PaperEXP3P.Eta is NaN"},
		{"more than all exploration", bandit.PaperEXP3P{Gamma: 1.5}, "PaperEXP3P.Gamma is 1.5"},
		{"less than none", bandit.PaperEXP3P{Gamma: -0.5}, "PaperEXP3P.Gamma is -0.5"},
	} {
		wantPanic(t, tt.reason, func() { ask(&tt.p, all(2)) }, tt.names)
	}
	full := &bandit.PaperEXP3P{Eta: 0.07, Gamma: 0.1}
	if a, b := (&bandit.PaperEXP3P{}).String(), full.String(); a != b ||
		a != "PaperEXP3P(eta=0.07, gamma=0.1, min=0, max=1)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

// A leader is caught up with only by an arm whose rewards are above some 1.49 times its own. The lead is of 500
// rounds, in which no other arm brings anything.
func TestPaperEXP3PStays(t *testing.T) {
	const lead, rounds = 500, 20_000
	for _, tt := range []struct {
		reason string
		better float64 // what arm 1 brings later; the leader goes on with 0.6
		stays  bool
	}{
		{"a third better is not enough", 0.8, true},
		{"1.67 times as good is", 1, false},
	} {
		p := &bandit.PaperEXP3P{}
		pl, open := bandit.NewPlayer(p, 10, 1), all(10)
		for round := range rounds {
			pull, err := pl.Draw(open)
			if err != nil {
				t.Fatal(err)
			}
			var reward float64
			switch {
			case pull.Arm == 0:
				reward = 0.6
			case pull.Arm == 1 && round >= lead:
				reward = tt.better
			}
			if err := pl.Report(pull.ID, reward); err != nil {
				t.Fatal(err)
			}
		}
		if got := ask(p, open); (got[0] > 0.9) != tt.stays || (got[1] > 0.9) == tt.stays {
			t.Errorf("%s: after %d rounds the chances are %.3f", tt.reason, rounds, got)
		}
	}
}
