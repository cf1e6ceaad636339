package replay

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// modeled draws steps of two arms with rewards 1 and 3 in the mean, the second with the chance p, for a policy that
// gives it 0.8 and a model of both rewards.
func modeled(r *rand.Rand, n int, p float64, model [2]float64) []Step {
	steps, target := make([]Step, n), [2]float64{0.2, 0.8}
	for i := range steps {
		arm, propensity := 0, 1-p
		if r.Float64() < p {
			arm, propensity = 1, p
		}
		steps[i] = Step{
			Arm: arm, Propensity: propensity, Reward: 1 + 2*float64(arm) + r.NormFloat64(), Target: target[arm],
			Model: model[arm], Expected: target[0]*model[0] + target[1]*model[1],
		}
	}
	return steps
}

func estimates(t *testing.T, steps []Step) Estimates {
	t.Helper()
	e, err := OffPolicy(slices.Values(steps))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Weights 2, 0 and 1, of a policy that always pulls arm 0.
func TestDoublyRobustByHand(t *testing.T) {
	e := estimates(t, []Step{
		{Arm: 0, Propensity: 0.5, Reward: 1, Target: 1, Model: 2, Expected: 2},
		{Arm: 1, Propensity: 0.5, Reward: 5, Target: 0, Model: 4, Expected: 2},
		{Arm: 0, Propensity: 1, Reward: 3, Target: 1},
	})
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"log", e.Logged, 3},
		{"IPS", e.IPS.Value, 5.0 / 3},
		{"self-normalized", e.SelfNormalized.Value, 5.0 / 3},
		{"doubly robust", e.DoublyRobust.Value, (2 + 2*(1-2.0) + 2 + 3) / 3},
		{"effective", e.Effective, 9.0 / 5},
		{"largest", e.Largest, 2},
		{"share", e.Share, 2.0 / 3},
		{"mean weight", e.Weight.Value, 1},
		{"its standard error", e.Weight.StdErr, 1 / math.Sqrt(3)},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// The policy's value is 0.2·1 + 0.8·3 = 2.6. A good model narrows the interval, a wrong one does not move the estimate.
func TestDoublyRobust(t *testing.T) {
	for _, c := range []struct {
		reason string
		model  [2]float64
		narrow bool
	}{{"the right model", [2]float64{1, 3}, true}, {"a wrong model", [2]float64{-4, 9}, false}} {
		covered, narrower := 0, 0
		const sets = 300
		for i := range uint64(sets) {
			e := estimates(t, modeled(stream.New(i, "robust", 0), 400, 0.3, c.model))
			if e.DoublyRobust.Low <= 2.6 && 2.6 <= e.DoublyRobust.High {
				covered++
			}
			if e.DoublyRobust.StdErr < e.IPS.StdErr {
				narrower++
			}
		}
		// 285 are expected, with a standard deviation of 3.8; the seeds are fixed.
		if covered < 270 {
			t.Errorf("%s: %d of %d intervals cover", c.reason, covered, sets)
		}
		if c.narrow != (narrower > sets/2) {
			t.Errorf("%s: %d of %d are narrower", c.reason, narrower, sets)
		}
	}
}

// Without a model the doubly robust estimate is IPS.
func TestDoublyRobustWithoutModel(t *testing.T) {
	e := estimates(t, modeled(stream.New(1, "against", 0), 200, 0.4, [2]float64{}))
	if e.DoublyRobust != e.IPS {
		t.Errorf("%v, want %v", e.DoublyRobust, e.IPS)
	}
}

func TestWarning(t *testing.T) {
	good := modeled(stream.New(1, "overlap", 0), 400, 0.5, [2]float64{})
	forced := slices.Repeat([]Step{{Arm: 0, Propensity: 1, Reward: 1, Target: 0.2}}, 400)
	rare := slices.Clone(good)
	rare[7] = Step{Propensity: 0.001, Reward: 1, Target: 1}
	for _, c := range []struct {
		reason string
		steps  []Step
		want   string
	}{
		{"half and half", good, ""},
		{"the log could not pull the other arm", forced, "the log could not"},
		{"few steps", good[:20], "effective steps"},
		{"one step has nearly all weight", rare, "effective steps"},
	} {
		if got := estimates(t, c.steps).Warning(); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
	weighty := Estimates{Effective: 40, Share: 0.12, Weight: Estimate{Value: 1}}
	if got := weighty.Warning(); !strings.Contains(got, "12 % of all weight") {
		t.Errorf("a step with much weight: %q", got)
	}
}

func TestModelsAreFinite(t *testing.T) {
	for _, bad := range []Step{
		{Propensity: 1, Target: 1, Model: math.Inf(1)},
		{Propensity: 1, Target: 1, Expected: math.NaN()},
	} {
		_, err := OffPolicy(slices.Values([]Step{bad, bad}))
		if err == nil || !strings.HasPrefix(err.Error(), "replay: step 0 has the rewards") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
