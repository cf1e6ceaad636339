package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/replay"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// play draws rounds of two arms with rewards 1 and 3 in the mean, the second with the chance p, for a target of 0.8.
func play(r *rand.Rand, n int, p float64, model []float64) []Decision {
	rounds := make([]Decision, n)
	for i := range rounds {
		d := Decision{Propensity: 1 - p, Target: []float64{0.2, 0.8}, Model: model}
		if r.Float64() < p {
			d.Arm, d.Propensity = 1, p
		}
		d.Reward = 1 + 2*float64(d.Arm) + r.NormFloat64()
		rounds[i] = d
	}
	return rounds
}

func TestOffPolicyByHand(t *testing.T) {
	e, err := EstimateOffPolicy([]Decision{
		{Arm: 0, Propensity: 0.5, Reward: 1, Target: []float64{1, 0}, Model: []float64{2, 0}},
		{Arm: 1, Propensity: 0.5, Reward: 5, Target: []float64{1, 0}, Model: []float64{2, 4}},
		{Arm: 0, Propensity: 1, Reward: 3, Target: []float64{1, 0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log", e.Logged, 3)
	near(t, "IPS", e.IPS.Value, 5.0/3)
	near(t, "self-normalized", e.SelfNormalized.Value, 5.0/3)
	near(t, "doubly robust", e.DoublyRobust.Value, (2+2*(1-2.0)+2+3)/3)
	near(t, "effective", e.Overlap.Effective, 9.0/5)
	near(t, "largest", e.Overlap.Largest, 2)
	near(t, "share", e.Overlap.Share, 2.0/3)
	near(t, "mean", e.Overlap.Mean, 1)
}

// Where both estimate the same, the values are those of evolve/replay.
func TestOffPolicyAgainstReplay(t *testing.T) {
	rounds := play(stream.New(1, "against", 0), 200, 0.4, nil)
	var steps []replay.Step
	for _, d := range rounds {
		steps = append(steps, replay.Step{Arm: d.Arm, Propensity: d.Propensity, Reward: d.Reward, Target: d.Target[d.Arm]})
	}
	want, err := replay.OffPolicy(slices.Values(steps))
	if err != nil {
		t.Fatal(err)
	}
	got, err := EstimateOffPolicy(rounds)
	if err != nil {
		t.Fatal(err)
	}
	nearEnds(t, "IPS", got.IPS, want.IPS.Value, [2]float64{want.IPS.Low, want.IPS.High})
	nearEnds(t, "self-normalized", got.SelfNormalized, want.SelfNormalized.Value, [2]float64{want.SelfNormalized.Low, want.SelfNormalized.High})
	nearEnds(t, "without a model", got.DoublyRobust, want.IPS.Value, [2]float64{want.IPS.Low, want.IPS.High})
	near(t, "effective", got.Overlap.Effective, want.Effective)
}

// The policy's value is 0.2·1 + 0.8·3 = 2.6. A good model narrows the interval, a wrong one does not move the estimate.
func TestDoublyRobust(t *testing.T) {
	for _, c := range []struct {
		reason string
		model  []float64
		narrow bool
	}{{"the right model", []float64{1, 3}, true}, {"a wrong model", []float64{-4, 9}, false}} {
		covered, narrower := 0, 0
		const sets = 300
		for i := range uint64(sets) {
			e, err := EstimateOffPolicy(play(stream.New(i, "robust", 0), 400, 0.3, c.model))
			if err != nil {
				t.Fatal(err)
			}
			if e.DoublyRobust.Contains(2.6) {
				covered++
			}
			if e.DoublyRobust.Width() < e.IPS.Width() {
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

func TestOverlapWarns(t *testing.T) {
	good := play(stream.New(1, "overlap", 0), 400, 0.5, nil)
	forced := make([]Decision, 400)
	for i := range forced {
		forced[i] = Decision{Propensity: 1, Reward: 1, Target: []float64{0.2, 0.8}}
	}
	rare := slices.Clone(good)
	rare[7] = Decision{Propensity: 0.001, Reward: 1, Target: []float64{1, 0}}
	for _, c := range []struct {
		reason string
		rounds []Decision
		want   string
	}{
		{"half and half", good, ""},
		{"the log could not pull the other arm", forced, "the log could not"},
		{"few rounds", good[:20], "effective rounds"},
		{"one round has nearly all weight", rare, "effective rounds"},
	} {
		e, err := EstimateOffPolicy(c.rounds)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Overlap.Warning(); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
	if got := (Overlap{Effective: 40, Share: 0.12, Mean: 1}).Warning(); !strings.Contains(got, "12 % of all weight") {
		t.Errorf("a round with much weight: %q", got)
	}
}

func TestOffPolicyRefuses(t *testing.T) {
	good := Decision{Arm: 0, Propensity: 0.5, Reward: 1, Target: []float64{1, 0}}
	for _, c := range []struct {
		reason string
		change func(d *Decision)
		want   string
	}{
		{"no such arm", func(d *Decision) { d.Arm = 2 }, "round 1 pulls arm 2, and Target has 2"},
		{"a propensity of 0", func(d *Decision) { d.Propensity = 0 }, "propensity 0"},
		{"no reward", func(d *Decision) { d.Reward = math.NaN() }, "reward NaN"},
		{"a chance below 0", func(d *Decision) { d.Target = []float64{2, -1} }, "the chance -1 for arm 1"},
		{"chances that do not sum to 1", func(d *Decision) { d.Target = []float64{0.5, 0.2} }, "sum to 0.7"},
		{"a model of other arms", func(d *Decision) { d.Model = []float64{1} }, "Model of 1 arms"},
		{"a model without a number", func(d *Decision) { d.Model = []float64{1, math.Inf(1)} }, "+Inf for arm 1"},
	} {
		bad := good
		c.change(&bad)
		if _, err := EstimateOffPolicy([]Decision{good, bad}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	if _, err := EstimateOffPolicy([]Decision{good}); err == nil {
		t.Error("one round is taken")
	}
	good.Target = []float64{0, 1}
	if _, err := EstimateOffPolicy([]Decision{good, good}); err == nil || !strings.Contains(err.Error(), "no chance") {
		t.Errorf("a policy that pulls nothing of the log: %v", err)
	}
}
