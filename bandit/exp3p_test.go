package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

func TestEXP3PHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.EXP3P{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.EXP3P{T: 100_000, Delta: 1e-9} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.EXP3P{T: 1, Delta: 1} })
}

// Two arms, T = 100 and δ = 0.05 make η = 0.95·sqrt(ln 2/200) = 0.055927, γ = 1.05·sqrt(2·ln 2/100) =
// 0.123628 and β = sqrt(ln 40/200) = 0.135810. A first reward of 1 at arm 0, drawn with chance ½, makes
// Ĝ = (1.135810/½, 0.135810/½) = (2.271620, 0.271620), hence the weights differ by a factor of
// exp(2η) = 1.118350 and p = (1−γ)·1.118350/2.118350 + γ/2 = 0.524481.
func TestEXP3P(t *testing.T) {
	half := func(arm int) bandit.Pull { return bandit.Pull{Arm: arm, Prob: 0.5} }
	for _, tt := range []struct {
		reason  string
		p       bandit.EXP3P
		pulls   []bandit.Pull
		rewards []float64
		want    float64 // chance of arm 0
	}{
		{"no outcome: even", bandit.EXP3P{T: 100}, nil, nil, 0.5},
		{"a reward of 1", bandit.EXP3P{T: 100}, []bandit.Pull{half(0)}, []float64{1}, 0.5244808977908976},
		{"a reward of 0: from ½ the bonuses are the same", bandit.EXP3P{T: 100}, []bandit.Pull{half(0)}, []float64{0}, 0.5},
		{"clipped above", bandit.EXP3P{T: 100}, []bandit.Pull{half(0)}, []float64{7}, 0.5244808977908976},
		{"clipped below", bandit.EXP3P{T: 100}, []bandit.Pull{half(0)}, []float64{-7}, 0.5},
		{"then ½ at arm 1, drawn with 0.475519: Ĝ = (2.271620 + β/0.524481, 0.271620 + (0.5 + β)/0.475519) = (2.530562, 1.608707)", bandit.EXP3P{T: 100},
			[]bandit.Pull{half(0), {Arm: 1, Prob: 0.4755191022091023}}, []float64{1, 0.5}, 0.5112931869673669},
		{"drawn with ¼ by a mixture: Ĝ = (1.135810/¼, 0.271620)", bandit.EXP3P{T: 100}, []bandit.Pull{{Arm: 0, Prob: 0.25}},
			[]float64{1}, 0.5520935288304568},
		{"δ = 1 makes β = sqrt(ln 2/200) = 0.058871", bandit.EXP3P{T: 100, Delta: 1},
			[]bandit.Pull{half(0), {Arm: 1, Prob: 0.4755191022091023}}, []float64{1, 0.5}, 0.5114781421040057},
		{"T = 4 is too short for the bound: γ is ½, not 0.618, and η = 0.279635", bandit.EXP3P{T: 4}, []bandit.Pull{half(0)},
			[]float64{1}, 0.5681417800833457},
	} {
		ask(&tt.p, all(2))
		for i, pull := range tt.pulls {
			tt.p.Update(pull, tt.rewards[i])
		}
		if got := ask(&tt.p, all(2)); !near(got, []float64{tt.want, 1 - tt.want}, 1e-14) {
			t.Errorf("%s: %v, want %v for arm 0", tt.reason, got, tt.want)
		}
	}
}

// textbookEXP3P is the algorithm of Bubeck and Cesa-Bianchi (2012), section 3.2, as it stands, in the linear domain.
type textbookEXP3P struct {
	eta, gamma, beta float64
	gain             []float64
}

func newTextbookEXP3P(k, t, delta float64) *textbookEXP3P {
	return &textbookEXP3P{
		eta:   0.95 * math.Sqrt(math.Log(k)/(t*k)),
		gamma: 1.05 * math.Sqrt(k*math.Log(k)/t),
		beta:  math.Sqrt(math.Log(k/delta) / (t * k)),
		gain:  make([]float64, int(k)),
	}
}

func (e *textbookEXP3P) probs() []float64 {
	p, sum := make([]float64, len(e.gain)), 0.0
	for i, g := range e.gain {
		p[i] = math.Exp(e.eta * g)
		sum += p[i]
	}
	for i := range p {
		p[i] = (1-e.gamma)*p[i]/sum + e.gamma/float64(len(p))
	}
	return p
}

func (e *textbookEXP3P) update(pulled int, x float64) {
	for i, p := range e.probs() {
		if i == pulled {
			e.gain[i] += x / p
		}
		e.gain[i] += e.beta / p
	}
}

func TestEXP3POracle(t *testing.T) {
	rng := newRand(3)
	for _, arms := range []int{2, 3, 10, 50} {
		const rounds = 2000
		p, oracle := &bandit.EXP3P{T: rounds, Delta: 0.1}, newTextbookEXP3P(float64(arms), rounds, 0.1)
		for round := range rounds {
			got, want := ask(p, all(arms)), oracle.probs()
			if !near(got, want, 1e-9) {
				t.Fatalf("%d arms, round %d: %v, want %v", arms, round, got, want)
			}
			arm, x := rng.IntN(arms), rng.Float64()
			p.Update(bandit.Pull{ID: round, Arm: arm, Prob: want[arm]}, x)
			oracle.update(arm, x)
		}
	}
}

// A mixture over the open arms only, with the gains of the closed ones kept.
func TestEXP3PClosedArms(t *testing.T) {
	p := &bandit.EXP3P{T: 1000}
	ask(p, all(3))
	for range 300 {
		p.Update(bandit.Pull{Arm: 1, Prob: 0.5}, 1)
	}
	before := ask(p, all(3))
	if got := ask(p, []bool{true, false, true}); !near(got, []float64{0.5, 0, 0.5}, 1e-15) {
		t.Errorf("the best arm closed: %v, want even chances for the others", got)
	}
	if got := ask(p, all(3)); !near(got, before, 0) || got[1] < 0.9 {
		t.Errorf("opened again: %v, want %v", got, before)
	}
}

// With K = 2 the first epoch has ⌈4.41·2·ln 2⌉ = 7 outcomes and the second 14, with the parameters of
// T = 7 and T = 14. Each begins with even chances.
func TestEXP3PEpochs(t *testing.T) {
	p := &bandit.EXP3P{}
	ask(p, all(2))
	for outcome := 1; outcome <= 7+14+28; outcome++ {
		length, begun := 7.0, 0
		if outcome > 7 {
			length, begun = 14, 7
		}
		if outcome > 21 {
			length, begun = 28, 21
		}
		oracle := newTextbookEXP3P(2, length, 0.05)
		oracle.gamma = min(oracle.gamma, 0.5)
		for range outcome - begun - 1 {
			oracle.update(1, 0.75)
		}
		got := ask(p, all(2))
		if !near(got, oracle.probs(), 1e-12) {
			t.Fatalf("before outcome %d: %v, want %v", outcome, got, oracle.probs())
		}
		p.Update(bandit.Pull{Arm: 1, Prob: got[1]}, 0.75)
	}
	if got := ask(p, all(2)); !near(got, []float64{0.5, 0.5}, 0) {
		t.Errorf("after three epochs: %v, want even chances", got)
	}
}

// Millions of rewards of 1 with one set of parameters, which make a weight whose logarithm is far beyond what a float64
// can have, and many over many epochs.
func TestEXP3PStaysFinite(t *testing.T) {
	t.Parallel()
	for horizon, rounds := range map[int]int{1000: notrun.Length(1_000_000, 10_000_000),
		0: notrun.Length(100_000, 1_000_000)} {
		p := &bandit.EXP3P{T: horizon}
		ask(p, all(2))
		for range rounds {
			p.Update(bandit.Pull{Arm: 1, Prob: 0.9}, 1)
		}
		for _, open := range [][]bool{all(2), {true, false}, {false, true}} {
			got := ask(p, open)
			if sum := got[0] + got[1]; !(math.Abs(sum-1) < 1e-12) || open[0] && open[1] && got[1] < 0.6 {
				t.Errorf("T = %d, open %v: %v", horizon, open, got)
			}
		}
	}
}

// Bubeck and Cesa-Bianchi (2012), section 3.2: the regret of a run is at most 5.15·sqrt(T·K·ln(K/δ))
// with probability 1−δ. With K = 2, T = 10,000 and δ = 0.05 that is 1399, of the 4000 that playing at
// random costs. Of 20 runs at most 5 may be above: the chance of more, at δ a run, is 0.0003.
func TestEXP3PRegret(t *testing.T) {
	t.Parallel()
	const rounds, runs, delta = 10_000, 20, 0.05
	bound := 5.15 * math.Sqrt(rounds*2*math.Log(2/delta))
	above := 0
	for _, r := range regrets(t, func() bandit.Policy { return &bandit.EXP3P{T: rounds, Delta: delta} }, rounds, runs, 0.1,
		0.9) {
		if r > bound {
			above++
		}
	}
	if above > 5 {
		t.Errorf("the regret of %d runs of %d is above %v", above, runs, bound)
	}
}

// In epochs the bound is 3.41 times as much: with T = 100,000 it is 15,100, of the 40,000 that playing
// at random costs.
func TestEXP3PRegretInEpochs(t *testing.T) {
	t.Parallel()
	const rounds, delta = 100_000, 0.05
	runs := notrun.Length(1, 4)
	bound := math.Sqrt2 / (math.Sqrt2 - 1) * 5.15 * math.Sqrt(rounds*2*math.Log(2/delta))
	for seed, r := range regrets(t, func() bandit.Policy { return &bandit.EXP3P{Delta: delta} }, rounds, runs, 0.1, 0.9) {
		if r > bound {
			t.Errorf("seed %d: regret %v, bound %v", seed, r, bound)
		}
	}
}

// The bound holds against rewards that change as well: here the best arm changes after a third, so that
// in hindsight the other is the best of all. What it has learned by then works against it.
func TestEXP3PRegretAgainstChange(t *testing.T) {
	const rounds, delta = 12_000, 0.05
	now := 0
	arm := func(early, late float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 {
			now++
			if now <= rounds/3 {
				return bernoulli(early)(rng)
			}
			return bernoulli(late)(rng)
		}
	}
	bound := 5.15 * math.Sqrt(rounds*2*math.Log(2/delta))
	for seed := range uint64(4) {
		now = 0
		paid := 0.0
		count := func(f func(*rand.Rand) float64) func(*rand.Rand) float64 {
			return func(rng *rand.Rand) float64 { x := f(rng); paid += x; return x }
		}
		play(t, &bandit.EXP3P{T: rounds, Delta: delta}, rounds, seed,
			[]func(*rand.Rand) float64{count(arm(0.9, 0.1)), count(arm(0.1, 0.9))})
		best := 0.1*rounds/3 + 0.9*rounds*2/3
		if regret := best - paid; regret > bound {
			t.Errorf("seed %d: regret %v, bound %v", seed, regret, bound)
		}
	}
}

// Forgotten gains are discounted ones: of two equal outcomes with γ between, the first weighs γ.
func TestEXP3PForgets(t *testing.T) {
	p, q := &bandit.EXP3P{T: 50}, &bandit.EXP3P{T: 50}
	ask(p, all(2))
	ask(q, all(2))
	p.Update(bandit.Pull{Arm: 0, Prob: 0.5}, 1)
	p.Forget(0.25)
	q.Update(bandit.Pull{Arm: 0, Prob: 0.5}, 0.25)
	if a, b := ask(p, all(2)), ask(q, all(2)); !near(a, b, 1e-15) || near(a, []float64{0.5, 0.5}, 1e-3) {
		t.Errorf("a reward of 1 discounted to a quarter: %v, a quarter: %v", a, b)
	}
}

func TestEXP3PParameters(t *testing.T) {
	for _, tt := range []struct {
		reason string
		p      bandit.EXP3P
		names  string
	}{
		{"no number of pulls", bandit.EXP3P{T: -1}, "EXP3P.T is -1"},
		{"less than impossible", bandit.EXP3P{Delta: -0.1}, "EXP3P.Delta is -0.1"},
		{"more than certain", bandit.EXP3P{Delta: 1.5}, "EXP3P.Delta is 1.5"},
		{"no chance at all", bandit.EXP3P{Delta: math.NaN()}, "EXP3P.Delta is NaN"},
	} {
		wantPanic(t, tt.reason, func() { ask(&tt.p, all(2)) }, tt.names)
	}
	wantPanic(t, "an outcome that was never drawn", func() { (&bandit.EXP3P{}).Update(bandit.Pull{}, 1) }, "Prob 0")
	if a, b := (&bandit.EXP3P{}).String(), (&bandit.EXP3P{Delta: 0.05}).String(); a != b || a != "EXP3P(T=0, delta=0.05)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleEXP3P() {
	p := &bandit.EXP3P{T: 5000}
	fmt.Println(p, coins(p, 5000, 0.2, 0.8, 0.5))
	// Output: EXP3P(T=5000, delta=0.05) [227 4251 522]
}
