package searches

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// hears returns the true score after so many calls of softmax that shows five attempts on the parent, or none, with a
// stand-in that makes a change which was shown to bring nothing anew with chance avoid.
func hears(t *testing.T, f landscape.Family, seed uint64, calls int, shows bool, avoid float64) float64 {
	t.Helper()
	p, err := f.Make(seed)
	if err != nil {
		t.Fatal(err)
	}
	model := p.LLM.(landscape.Model)
	model.Avoid = avoid
	c := population.Config{Task: p.Task, LLM: model, N: 1, Seed: uint32(seed), Operators: []population.Operator{
		population.Rewrite{}, population.Explore{Show: func(v *population.View) []task.Section { return v.Sections }}}}
	if shows {
		c.Memory = []population.Memory{&population.Attempts{OfParent: true}}
	}
	s, err := population.New(c)
	if err != nil {
		t.Fatal(err)
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Calls: calls}})
	if err != nil {
		t.Fatal(err)
	}
	return p.True(res.Best.Program)
}

// Whether hearing of attempts helps stand-ins: the figures of docs/measurements/2026-11-26-prompts.md. It must not cost a
// family a fifth of all that there is to gain.
func TestHearingOfAttempts(t *testing.T) {
	seeds := notrun.Length(4, 40)
	var gains [2]float64
	for _, f := range landscape.Families() {
		if f.Name != "additive" && f.Name != "traps" && f.Name != "hiff" && f.Name != "few" {
			continue
		}
		for i, avoid := range []float64{0, 1} {
			var diff []float64
			for seed := range seeds {
				at := uint64(91_000_000 + seed)
				diff = append(diff, hears(t, f, at, 128, true, avoid)-hears(t, f, at, 128, false, avoid))
			}
			mean, sd := stat.MeanStdDev(diff, nil)
			t.Logf("%-9s avoids %v: %+.4f ± %.4f", f.Name, avoid, mean, 1.96*sd/math.Sqrt(float64(seeds)))
			gains[i] += mean / 4
			if mean < -0.2 {
				t.Errorf("%s loses %v by hearing of attempts", f.Name, -mean)
			}
		}
	}
	t.Logf("all: ignored %+.4f, avoided %+.4f", gains[0], gains[1])
}
