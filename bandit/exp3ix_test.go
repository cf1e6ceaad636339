package bandit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestEXP3IXHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.EXP3IX{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.EXP3IX{T: 100_000} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.EXP3IX{T: 1} })
}

// Two arms and T = 100 make η = sqrt(2·ln 2/200) = 0.083255 and γ = 0.041628. A loss of 1 at arm 0, drawn
// with chance ½, is estimated as 1/0.541628 = 1.846287, so p = 1/(1 + exp(η·1.846287)) = 0.461647. With T
// not known, η = sqrt(ln 2/2) = 0.588705 at the first outcome, which is estimated as 1/0.794353 = 1.258887,
// and sqrt(ln 2/4) = 0.416277 at the second.
func TestEXP3IX(t *testing.T) {
	half := func(arm int) bandit.Pull { return bandit.Pull{Arm: arm, Prob: 0.5} }
	for _, tt := range []struct {
		reason  string
		p       bandit.EXP3IX
		pulls   []bandit.Pull
		rewards []float64
		want    float64 // chance of arm 0
	}{
		{"no outcome: even", bandit.EXP3IX{T: 100}, nil, nil, 0.5},
		{"a reward of 0", bandit.EXP3IX{T: 100}, []bandit.Pull{half(0)}, []float64{0}, 0.46164712676778086},
		{"a reward of 1 is no loss", bandit.EXP3IX{T: 100}, []bandit.Pull{half(0)}, []float64{1}, 0.5},
		{"clipped below", bandit.EXP3IX{T: 100}, []bandit.Pull{half(0)}, []float64{-5}, 0.46164712676778086},
		{"clipped above", bandit.EXP3IX{T: 100}, []bandit.Pull{half(0)}, []float64{5}, 0.5},
		{"then ½ at arm 1, drawn with 0.538353: L̂ = (1.846287, 0.862098)", bandit.EXP3IX{T: 100}, []bandit.Pull{half(0), {Arm: 1, Prob: 0.5383528732322191}}, []float64{0, 0.5}, 0.4795266811918533},
		{"drawn with ¼ by a mixture: L̂ = ½/(¼ + γ) = 1.714515", bandit.EXP3IX{T: 100}, []bandit.Pull{{Arm: 0, Prob: 0.25}}, []float64{0.5}, 0.46437479374814666},
		{"T not known", bandit.EXP3IX{}, []bandit.Pull{half(0)}, []float64{0}, 0.37190661589855273},
		{"T not known: γ falls with η, and L̂ = (1.258887, ½/(0.628093 + 0.208139))", bandit.EXP3IX{}, []bandit.Pull{half(0), {Arm: 1, Prob: 0.6280933841014472}}, []float64{0, 0.5}, 0.4440711959178199},
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

// The algorithm of the paper as it stands, in the linear domain, with arms closing and opening and three
// pending pulls.
func TestEXP3IXOracle(t *testing.T) {
	rng := newRand(3)
	for _, horizon := range []float64{0, 500} {
		for _, arms := range []int{2, 3, 10, 50} {
			k, losses := float64(arms), make([]float64, arms)
			p := &bandit.EXP3IX{T: int(horizon)}
			eta := func(n int) float64 {
				if horizon == 0 {
					return math.Sqrt(math.Log(k) / (k * float64(n)))
				}
				return math.Sqrt(2 * math.Log(k) / (k * horizon))
			}
			var waiting []bandit.Pull
			for round, ended := 0, 0; round < 500; round++ {
				open, want, sum := all(arms), make([]float64, arms), 0.0
				open[rng.IntN(arms)] = false
				for i, ok := range open {
					if ok {
						want[i] = math.Exp(-eta(ended+1) * losses[i])
						sum += want[i]
					}
				}
				for i := range want {
					want[i] /= sum
				}
				if got := ask(p, open); !near(got, want, 1e-9) {
					t.Fatalf("T = %v, %d arms, round %d: %v, want %v", horizon, arms, round, got, want)
				}
				arm := rng.IntN(arms)
				for !open[arm] {
					arm = rng.IntN(arms)
				}
				if waiting = append(waiting, bandit.Pull{ID: round, Arm: arm, Prob: want[arm]}); len(waiting) > 3 {
					pull, x := waiting[0], rng.Float64()
					ended++
					losses[pull.Arm] += (1 - x) / (pull.Prob + eta(ended)/2)
					p.Update(pull, x)
					waiting = waiting[1:]
				}
			}
		}
	}
}

// Ten million losses of 1: the weight's logarithm is beyond −200,000 with T = 1000.
func TestEXP3IXStaysFinite(t *testing.T) {
	t.Parallel()
	for _, horizon := range []int{0, 1000} {
		p := &bandit.EXP3IX{T: horizon}
		ask(p, all(3))
		for range 10_000_000 {
			p.Update(bandit.Pull{Arm: 1, Prob: 1. / 3}, 0)
		}
		if got := ask(p, all(3)); !near(got, []float64{0.5, 0, 0.5}, 1e-15) {
			t.Errorf("T = %d: %v, want nothing for arm 1", horizon, got)
		}
		if got := ask(p, []bool{false, true, false}); !near(got, []float64{0, 1, 0}, 1e-15) {
			t.Errorf("T = %d, the bad arm alone: %v", horizon, got)
		}
	}
}

// Theorem 1 of Neu (2015), with δ = 0.05. With K = 2 and T = 10,000 the bound is 967 when T is known, of
// the 4000 that playing at random costs, and 1358 when it is not. Of 20 runs at most 5 may be above: the
// chance of more, at δ a run, is 0.0003.
func TestEXP3IXRegret(t *testing.T) {
	t.Parallel()
	const k, rounds, runs, delta = 2, 10_000, 20, 0.05
	log, conf := math.Log(k), math.Log(2/delta)
	for _, tt := range []struct {
		p     bandit.EXP3IX
		bound float64
	}{
		{bandit.EXP3IX{T: rounds}, 2*math.Sqrt(2*k*rounds*log) + (math.Sqrt(2*k*rounds/log)+1)*conf},
		{bandit.EXP3IX{}, 4*math.Sqrt(k*rounds*log) + (2*math.Sqrt(k*rounds/log)+1)*conf},
	} {
		above := 0
		for _, r := range regrets(t, func() bandit.Policy { p := tt.p; return &p }, rounds, runs, 0.1, 0.9) {
			if r > tt.bound {
				above++
			}
		}
		if above > 5 {
			t.Errorf("%v: the regret of %d runs of %d is above %v", &tt.p, above, runs, tt.bound)
		}
	}
}

func TestEXP3IXForgets(t *testing.T) {
	p, q := &bandit.EXP3IX{T: 50}, &bandit.EXP3IX{T: 50}
	ask(p, all(2))
	ask(q, all(2))
	p.Update(bandit.Pull{Arm: 0, Prob: 0.5}, 0)
	p.Forget(0.25)
	q.Update(bandit.Pull{Arm: 0, Prob: 0.5}, 0.75)
	if a, b := ask(p, all(2)), ask(q, all(2)); !near(a, b, 1e-15) || near(a, []float64{0.5, 0.5}, 1e-3) {
		t.Errorf("a loss of 1 discounted to a quarter: %v, a loss of a quarter: %v", a, b)
	}
	// Under Discounted the rates of an unknown T stop falling: 1/(1−γ) outcomes count.
	d, x := bandit.Discounted(&bandit.EXP3IX{}, 0.9), &bandit.EXP3IX{T: 20} // 2·ln K/(K·20) = ln K/(K·10)
	ask(d, all(2))
	ask(x, all(2))
	for range 1000 {
		d.Update(bandit.Pull{Arm: 0, Prob: 1}, 1)
	}
	d.Update(bandit.Pull{Arm: 0, Prob: 0.5}, 0)
	x.Update(bandit.Pull{Arm: 0, Prob: 0.5}, 0)
	if a, b := ask(d, all(2)), ask(x, all(2)); !near(a, b, 0.005) {
		t.Errorf("discounted by 0.9: %v, with the rate of ten outcomes: %v", a, b)
	}
}

func TestEXP3IXParameters(t *testing.T) {
	wantPanic(t, "no number of pulls", func() { ask(&bandit.EXP3IX{T: -3}, all(2)) }, "EXP3IX.T is -3")
	if got := (&bandit.EXP3IX{T: 7}).String(); got != "EXP3IX(T=7)" {
		t.Errorf("prints %q", got)
	}
}

func ExampleEXP3IX() {
	p := &bandit.EXP3IX{T: 1000}
	fmt.Println(p, coins(p, 1000, 0.2, 0.8, 0.5))
	// Output: EXP3IX(T=1000) [49 847 104]
}
