package advise

import (
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestPolicyHolds(t *testing.T) {
	for _, calls := range []int{1, 200, 100_000} {
		bandittest.Run(t, func() bandit.Policy { return &Policy{Calls: calls} })
	}
	one := 1.0
	bandittest.Run(t, func() bandit.Policy { return &Policy{Calls: 5000, Share: 0.5, Ceiling: &one} })
}

// A game plays a policy over arms whose pulls make sizes[i] calls each, until the calls are spent. score is the best
// of an arm after so many pulls. It returns the pulls of each arm.
func game(t *testing.T, p *Policy, sizes []int, score func(arm, pulls int) float64) []int {
	t.Helper()
	pl := bandit.NewPlayer(p, len(sizes), 1)
	pulls, open := make([]int, len(sizes)), make([]bool, len(sizes))
	for left := p.Calls; left > 0; {
		calls := make([]int, len(sizes))
		for i, n := range sizes {
			open[i], calls[i] = true, min(n, left)
		}
		pull, err := pl.DrawSized(open, calls)
		if err != nil {
			t.Fatal(err)
		}
		pulls[pull.Arm]++
		left -= pull.Calls
		if err := pl.Report(pull.ID, score(pull.Arm, pulls[pull.Arm])); err != nil {
			t.Fatal(err)
		}
	}
	return pulls
}

// bilinear is the score on a surface below a ceiling of 1.
func bilinear(sizes []int, b0, a, b, c float64) func(arm, pulls int) float64 {
	return func(arm, pulls int) float64 {
		x, y := math.Log(float64(pulls)), math.Log(float64(sizes[arm]))
		return 1 - math.Exp(b0+a*x+b*y+c*x*y)
	}
}

// On a surface without noise, the advice is the split that is best on it, and the rest of the calls go there.
func TestAdvice(t *testing.T) {
	sizes := []int{1, 4, 16}
	for _, tt := range []struct {
		why     string
		a, b, c float64
		arm     int
	}{
		{"depth alone brings anything", -0.3, 0, 0, 0},
		{"breadth brings more than depth", -0.1, -0.3, 0, 2},
		{"depth and breadth complement each other: 64 calls each way of 4096 would be best, 16 comes nearest", -0.05, -0.05, -0.05, 2},
		{"the same with more for depth: N = 4", -0.25, -0.05, -0.04, 1},
	} {
		one := 1.0
		p := &Policy{Calls: 4096, Ceiling: &one}
		pulls := game(t, p, sizes, bilinear(sizes, -0.1, tt.a, tt.b, tt.c))
		a, over := p.Advice()
		if !over || a.Arm != tt.arm || a.Fallback != "" || a.N != sizes[tt.arm] {
			t.Errorf("%s: %v, %v, want arm %d", tt.why, a, over, tt.arm)
		}
		// 409 calls in the pilot, so 136 of each arm, rounded up to whole pulls.
		for i, n := range sizes {
			want := (136 + n - 1) / n
			if i == tt.arm {
				want = a.T
			}
			if d := pulls[i] - want; d < 0 || d > 1 { // the last pull is of what is left
				t.Errorf("%s: arm %d is pulled %d times, want %d: %v", tt.why, i, pulls[i], want, a)
			}
		}
		if math.Abs(a.Surface.A-tt.a) > 1e-9 || math.Abs(a.Surface.C-tt.c) > 1e-9 {
			t.Errorf("%s: fitted %v and %v, want %v and %v", tt.why, a.Surface.A, a.Surface.C, tt.a, tt.c)
		}
	}
}

// A score that cannot be fitted leaves the rest to the arm with the best score, with the reason.
func TestFallback(t *testing.T) {
	half := 0.5
	for _, tt := range []struct {
		why   string
		sizes []int
		p     Policy
		score func(arm, pulls int) float64
		arm   int
		want  string
	}{
		{"no valid child, so all scores are 0", []int{1, 4, 16}, Policy{Calls: 1024}, func(int, int) float64 { return 0 }, 0, "all scores of the pilot are the same"},
		{"constant scores on another scale", []int{1, 4}, Policy{Calls: 1024}, func(int, int) float64 { return -1e9 }, 0, "are the same"},
		{"one breadth, so the best search goes on", []int{4, 4, 4}, Policy{Calls: 1024}, func(arm, pulls int) float64 { return float64([]int{1, 3, 2}[arm]) }, 1, "breadth 4"},
		{"one pull each: two cells for four terms", []int{16, 64}, Policy{Calls: 200}, func(arm, pulls int) float64 { return float64(arm) }, 1, "observations for 4 coefficients"},
		{"scores that fall are no best scores", []int{1, 4}, Policy{Calls: 1024}, func(arm, pulls int) float64 { return float64(arm) - float64(pulls) }, 1, "do not fall"},
		{"a ceiling that is none", []int{1, 4}, Policy{Calls: 1024, Ceiling: &half}, func(arm, pulls int) float64 { return 1 - 1/float64(pulls) }, 0, "above the ceiling 0.5"},
		{"scores whose range overflows", []int{1, 4}, Policy{Calls: 1024}, func(arm, pulls int) float64 { return math.MaxFloat64 * float64(2*arm-1) }, 1, "too far apart"},
	} {
		game(t, &tt.p, tt.sizes, tt.score)
		a, over := tt.p.Advice()
		if !over || a.Arm != tt.arm || !strings.Contains(a.Fallback, tt.want) || a.N != tt.sizes[tt.arm] || a.T < 1 {
			t.Errorf("%s: %v, %v, want arm %d because %q", tt.why, a, over, tt.arm, tt.want)
		}
	}
}

// The advice rests on the pilot alone, and does not depend on the scale of the scores.
func TestAdviceIsOfThePilot(t *testing.T) {
	sizes := []int{1, 4, 16}
	noisy := func(arm, pulls int) float64 { return 1 - 1/(1+math.Log(float64(pulls*(7+arm*arm))))/float64(1+arm%2) }
	first := &Policy{Calls: 2048}
	want := game(t, first, sizes, noisy)
	scaled := &Policy{Calls: 2048}
	for i, n := range game(t, scaled, sizes, func(arm, pulls int) float64 { return 1e6*noisy(arm, pulls) - 3 }) {
		if n != want[i] {
			t.Errorf("arm %d is pulled %d times, and %d times on another scale", i, want[i], n)
		}
	}
	before, _ := first.Advice()
	first.Update(bandit.Pull{Arm: 0, Arms: 3, Calls: 1}, 100)
	if after, over := first.Advice(); !over || after.String() != before.String() {
		t.Errorf("%v after another outcome, %v before", after, before)
	}
}

// An arm that closes in the pilot does not hold it up, and the chosen arm's pending pull sends a draw to the next best.
func TestClosedArms(t *testing.T) {
	p := &Policy{Calls: 1000, Share: 0.5}
	ask := func(open ...bool) []float64 {
		probs := make([]float64, len(open))
		p.Probs(probs, bandit.Round{Open: open, Pending: make([]int, len(open)), Calls: []int{1, 4, 16}})
		return probs
	}
	for i := range 200 {
		p.Update(bandit.Pull{Arm: 0, Arms: 3, Calls: 1}, 1-1/float64(1+i))
		p.Update(bandit.Pull{Arm: 1, Arms: 3, Calls: 4}, 2-2/float64(1+i))
	}
	if got := ask(true, true, false); got[0]+got[1] != 1 || got[2] != 0 {
		t.Errorf("the arm that the pilot lacks is closed: %v", got)
	}
	if _, over := p.Advice(); over {
		t.Error("the pilot is over without the third arm's calls")
	}
	if got := ask(true, true, true); got[2] != 1 {
		t.Errorf("the arm that the pilot lacks is open: %v", got)
	}
	for i := range 11 {
		p.Update(bandit.Pull{Arm: 2, Arms: 3, Calls: 16}, 3-3/float64(1+i))
	}
	a, over := p.Advice()
	if !over {
		t.Fatal("the pilot is not over")
	}
	open := []bool{true, true, true}
	if got := ask(open...); got[a.Arm] != 1 {
		t.Errorf("%v, but the arm drawn is another: %v", a, got)
	}
	open[a.Arm] = false
	if got := ask(open...); got[0]+got[1]+got[2] != 1 || got[a.Arm] != 0 {
		t.Errorf("the advised arm is closed: %v", got)
	}
}

func TestWrongFields(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		why  string
		p    Policy
		want string
	}{
		{"no budget to take a share of", Policy{}, "Calls is 0"},
		{"nothing left for the rest", Policy{Calls: 10, Share: 1}, "Share is 1"},
		{"not a share", Policy{Calls: 10, Share: nan}, "Share is NaN"},
		{"not a score", Policy{Calls: 10, Ceiling: &nan}, "Ceiling is NaN"},
	} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.HasPrefix(v, "advise: Policy.") || !strings.Contains(v, tt.want) {
					t.Errorf("%s: panic %q, want %q", tt.why, v, tt.want)
				}
			}()
			tt.p.Probs(make([]float64, 2), bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}})
		}()
	}
}
