package replay

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

func TestOffPolicyByHand(t *testing.T) {
	// Weights 2, 0, 1 and rewards 1, 5, 3: the sum of w·r is 5, that of w is 3.
	e, err := OffPolicy(slices.Values([]Step{{Arm: 0, Propensity: 0.5, Reward: 1, Target: 1},
		{Arm: 1, Propensity: 0.5, Reward: 5, Target: 0}, {Arm: 0, Propensity: 1, Reward: 3, Target: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	// The variance of 2, 0, 3 is 7/3; by the delta method 4·(1−5/3)² + 1·(3−5/3)² = 32/9 over 3².
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"steps", float64(e.Steps), 3},
		{"mean of the log", e.Logged, 3},
		{"inverse propensity", e.IPS.Value, 5.0 / 3},
		{"its standard error", e.IPS.StdErr, math.Sqrt(7.0 / 9)},
		{"self-normalized", e.SelfNormalized.Value, 5.0 / 3},
		{"its standard error", e.SelfNormalized.StdErr, math.Sqrt(32.0/9) / 3},
		{"the interval's width", e.IPS.High - e.IPS.Low, 2 * 1.959963984540054 * math.Sqrt(7.0/9)},
		{"steps left", e.Effective, 9.0 / 5},
		{"the largest weight", e.Largest, 2},
		{"blind steps", float64(e.Blind), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// Rewards may be far from 0 and differ little: sums of their squares would have no digit of the difference.
func TestOffPolicyOfLargeRewards(t *testing.T) {
	for _, far := range []float64{0, 1e9, -1e9} {
		var steps []Step
		for i := range 1000 {
			steps = append(steps, Step{Propensity: 0.5, Target: 0.5, Reward: far + float64(i%2)})
		}
		e, err := OffPolicy(slices.Values(steps))
		if err != nil {
			t.Fatal(err)
		}
		ips, own := math.Sqrt(0.25/999), 0.5/math.Sqrt(1000)
		if math.Abs(e.IPS.StdErr-ips) > 1e-6 || math.Abs(e.SelfNormalized.StdErr-own) > 1e-6 ||
			math.Abs(e.SelfNormalized.Value-far-0.5) > 1e-6 {
			t.Errorf("rewards about %v: %+v and %+v, want standard errors of %v and %v", far, e.IPS, e.SelfNormalized, ips, own)
		}
	}
}

// A log that the policy made itself gives its own mean, with the usual standard error.
func TestOnPolicy(t *testing.T) {
	steps := []Step{{Arm: 0, Propensity: 0.3, Reward: 1, Target: 0.3}, {Arm: 1, Propensity: 0.7, Reward: 2, Target: 0.7},
		{Arm: 1, Propensity: 0.7, Reward: 6, Target: 0.7}}
	e, err := OffPolicy(slices.Values(steps))
	if err != nil || e.IPS.Value != 3 || e.SelfNormalized.Value != 3 || e.Effective != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	if want := math.Sqrt(7.0 / 3); math.Abs(e.IPS.StdErr-want) > 1e-12 {
		t.Errorf("standard error %v, want %v", e.IPS.StdErr, want)
	}
}

func TestBlindSteps(t *testing.T) {
	e, err := OffPolicy(slices.Values([]Step{{Arm: 0, Propensity: 1, Reward: 1, Target: 0.5},
		{Arm: 0, Propensity: 1, Reward: 1, Target: 0.5}, {Arm: 0, Propensity: 1, Reward: 1, Target: 1},
		{Arm: 1, Propensity: 0.5, Reward: 1, Target: 0.2}}))
	if err != nil || e.Blind != 2 {
		t.Errorf("%d blind steps, %v, want 2: those that could be nothing else", e.Blind, err)
	}
}

// Over 400 logs of a stationary bandit the inverse propensity estimate is right on average, within four
// standard errors, and about 95 % of the intervals hold the truth. The same goes for the self-normalized one, which
// varies less. The log's policy changes from round to round, as a bandit's does.
func TestOffPolicyIsRight(t *testing.T) {
	means, target := []float64{0.2, 0.5, 0.8}, []float64{0.1, 0.2, 0.7}
	truth := 0.1*0.2 + 0.2*0.5 + 0.7*0.8
	const logs, n = 400, 250
	var sum, squares, spread float64
	var holds, holds2 int
	for i := range logs {
		e, err := OffPolicy(drawn(uint64(i), n, means, target))
		if err != nil {
			t.Fatal(err)
		}
		d := e.IPS.Value - truth
		sum, squares, spread = sum+d, squares+d*d, spread+(e.SelfNormalized.Value-truth)*(e.SelfNormalized.Value-truth)
		if e.IPS.Low <= truth && truth <= e.IPS.High {
			holds++
		}
		if e.SelfNormalized.Low <= truth && truth <= e.SelfNormalized.High {
			holds2++
		}
	}
	if bias, stdErr := sum/logs, math.Sqrt(squares/logs/logs); math.Abs(bias) > 4*stdErr {
		t.Errorf("bias %v with standard error %v", bias, stdErr)
	}
	for _, h := range []int{holds, holds2} { // standard deviation 4.4 about 380, less what 250 steps lack
		if h < 355 || h > 396 {
			t.Errorf("%d and %d of %d intervals hold the truth", holds, holds2, logs)
		}
	}
	if spread >= squares {
		t.Errorf("self-normalized has mean square error %v, plain %v", spread/logs, squares/logs)
	}
}

// drawn is a log of n rounds, by a policy that leans to another arm every round.
func drawn(seed uint64, n int, means, target []float64) iter.Seq[Step] {
	r := rand.New(rand.NewPCG(seed, 5))
	return func(yield func(Step) bool) {
		for i := range n {
			p := []float64{0.2, 0.2, 0.2}
			p[i%3] = 0.6
			u, arm := r.Float64(), 0
			for arm < 2 && u >= p[arm] {
				u -= p[arm]
				arm++
			}
			reward := 0.0
			if r.Float64() < means[arm] {
				reward = 1
			}
			if !yield(Step{Arm: arm, Propensity: p[arm], Reward: reward, Target: target[arm]}) {
				return
			}
		}
	}
}

func TestOffPolicyErrors(t *testing.T) {
	fine := Step{Arm: 0, Propensity: 0.5, Reward: 1, Target: 0.5}
	for _, c := range []struct {
		why   string
		steps []Step
		want  string
	}{
		{"nothing", nil, "replay: 0 steps"},
		{"one step has no spread", []Step{fine}, "replay: 1 steps"},
		{"a propensity of 0 cannot have been drawn", []Step{fine, {Arm: 0, Propensity: 0, Reward: 1, Target: 1}},
			"replay: step 1 has propensity 0"},
		{"a propensity above 1", []Step{{Arm: 0, Propensity: 1.5, Reward: 1, Target: 1}},
			"replay: step 0 has propensity 1.5"},
		{"a propensity that is no number", []Step{{Arm: 0, Propensity: math.NaN(), Reward: 1, Target: 1}},
			"replay: step 0 has propensity NaN"},
		{"a negative target", []Step{{Arm: 0, Propensity: 1, Reward: 1, Target: -1}},
			"replay: step 0 has target probability -1"},
		{"a reward that is no number", []Step{{Arm: 0, Propensity: 1, Reward: math.NaN(), Target: 1}},
			"replay: step 0 has reward NaN"},
		{"never what was pulled", []Step{{Arm: 0, Propensity: 1, Reward: 1, Target: 0},
			{Arm: 0, Propensity: 1, Reward: 1, Target: 0}}, "replay: the policy gives no chance to any of the 2 pulls"},
	} {
		if _, err := OffPolicy(slices.Values(c.steps)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

// twoArmLog is a log of 60 rounds over two arms by even chances.
func twoArmLog() Log {
	l := Log{Arms: []Arm{{Name: "a", Best: make([]float64, 61)}, {Name: "b", Best: make([]float64, 61)}},
		Run: &Allocation{Seed: 1}}
	r := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		arm := r.IntN(2)
		l.Run.Selections = append(l.Run.Selections, arm)
		l.Run.Propensities = append(l.Run.Propensities, 0.5)
		l.Run.Rewards = append(l.Run.Rewards, 0.3+0.4*float64(arm))
	}
	return l
}

func TestSharesAlong(t *testing.T) {
	l := twoArmLog()
	steps, err := l.Along(func() bandit.Policy { return bandit.Shares{0.25, 0.75} }, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := OffPolicy(steps)
	if err != nil || e.Steps != 60 {
		t.Fatalf("%+v, %v", e, err)
	}
	if want := 0.25*0.3 + 0.75*0.7; !(e.SelfNormalized.Low <= want && want <= e.SelfNormalized.High) {
		t.Errorf("%v, want %v within", e.SelfNormalized, want)
	}
}

// lastWinner gives arm 0 the last reward as its chance, and hears all pulls with their propensities.
type lastWinner struct {
	last float64
	t    *testing.T
	n    int
}

func (w *lastWinner) Probs(p []float64, r bandit.Round) {
	if r.T != w.n {
		w.t.Errorf("asked for draw %d after %d outcomes", r.T, w.n)
	}
	p[0], p[1] = w.last, 1-w.last
	if !r.Open[0] {
		p[0], p[1] = 0, 1
	}
}

func (w *lastWinner) Update(pull bandit.Pull, reward float64) {
	if pull.ID != w.n || pull.Prob != 0.5 {
		w.t.Errorf("heard of %+v as outcome %d", pull, w.n)
	}
	w.last = reward
	w.n++
}

// Along asks a policy as the log went on, with every outcome before.
func TestAlong(t *testing.T) {
	l := twoArmLog()
	steps, err := l.Along(func() bandit.Policy { return &lastWinner{t: t, last: 0.5} }, 20)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // each range has a policy of its own
		last, pulls, i := 0.5, 0, 0
		for s := range steps {
			want := last
			if pulls >= 20 {
				want = 0
			}
			if s.Arm == 1 {
				want = 1 - want
			} else {
				pulls++
			}
			if s.Arm != l.Run.Selections[i] || s.Reward != l.Run.Rewards[i] || math.Abs(s.Target-want) > 1e-12 {
				t.Fatalf("step %d: %+v, want target %v", i, s, want)
			}
			last = s.Reward
			i++
		}
		if i < 40 {
			t.Errorf("%d steps", i)
		}
	}
	for range steps {
		break // a range may end early
	}
}

func TestNothingToEstimateFrom(t *testing.T) {
	fresh := func() bandit.Policy { return roundRobin{} }
	noRun, noProps := twoArmLog(), twoArmLog()
	noRun.Run, noProps.Run.Propensities = nil, nil
	for _, l := range []Log{noRun, noProps} {
		if _, err := l.Along(fresh, 0); err == nil || !strings.HasPrefix(err.Error(), "replay: an estimate from a log") {
			t.Error(err)
		}
	}
}

func TestWarning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	good := make([]Step, 400)
	for i := range good {
		arm := r.IntN(2)
		good[i] = Step{Arm: arm, Propensity: 0.5, Reward: float64(arm), Target: 0.2 + 0.6*float64(arm)}
	}
	rare := slices.Clone(good)
	rare[7] = Step{Propensity: 0.001, Reward: 1, Target: 1}
	for _, c := range []struct {
		reason string
		steps  []Step
		want   string
	}{
		{"half and half", good, ""},
		{"the log could not pull the other arm", slices.Repeat([]Step{{Propensity: 1, Reward: 1, Target: 0.2}}, 400),
			"the log could not"},
		{"few steps", good[:20], "effective steps"},
		{"one step has nearly all weight", rare, "effective steps"},
	} {
		e, err := OffPolicy(slices.Values(c.steps))
		if got := e.Warning(); err != nil || got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q: %v", c.reason, got, c.want, err)
		}
	}
}
