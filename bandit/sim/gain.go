package sim

import (
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
)

// A Gain is by how much one policy ends above another, as a share of what there was to gain.
type Gain struct {
	// Mean is the mean over settings of
	//
	//	(mean final of the one − mean final of the other)/(mean oracle − mean start)
	//
	// with the means over the runs of the setting: how far the one ends above the other, as a share of the way from
	// the start to the best that the whole budget can reach with the arms known beforehand, in steps of the setting's
	// N children. Policies with a breadth of their own may come further than that. Its interval is a
	// bootstrap of 2000 samples of the runs, the same for both policies, and works out everything anew in each.
	Mean Interval
	// Worst is the smallest one of a setting, with its own interval, and WorstAt the setting.
	Worst   Interval
	WorstAt Setting
}

// GainOver returns by how much the named policy ends above another one, over all cells. Cells in which there is
// nothing to gain are left out. It panics if a cell has no such policy.
func GainOver(cells []Cell, name, other string) Gain {
	nan := math.NaN()
	g := Gain{Mean: Interval{nan, nan, nan}, Worst: Interval{nan, nan, nan}}
	samples, n := make([]float64, resamples), 0
	draws := make(map[int][]sample) // by number of runs
	var sum float64
	for _, c := range cells {
		if runs := len(c.Oracle); draws[runs] == nil {
			draws[runs] = newSamples(runs)
		}
		i, each := c.gain(name, other, draws[len(c.Oracle)])
		if math.IsNaN(i.Value) {
			continue
		}
		n++
		sum += i.Value
		for j, v := range each {
			samples[j] += v
		}
		if n == 1 || i.Value < g.Worst.Value {
			g.Worst, g.WorstAt = i, c.Setting
		}
	}
	if n == 0 {
		return g
	}
	for j := range samples {
		samples[j] /= float64(n)
	}
	g.Mean.Value = sum / float64(n)
	g.Mean.Low, g.Mean.High = bootstrap.Percentiles(samples, confidence)
	return g
}

// gain returns that of one cell, and that of each sample of its runs.
func (c Cell) gain(name, other string, samples []sample) (Interval, []float64) {
	one, two, starts := c.Entry(name).Final, c.Entry(other).Final, c.starts()
	of := func(weights sample) float64 {
		var above, room float64
		for run, w := range weights {
			above += float64(w) * (one[run] - two[run])
			room += float64(w) * (c.Oracle[run] - starts[run])
		}
		if room <= 0 {
			return math.NaN()
		}
		return above / room
	}
	i := Interval{Value: of(once(len(one)))}
	each := make([]float64, 0, resamples)
	for _, s := range samples {
		v := of(s)
		if math.IsNaN(v) {
			v = i.Value // nothing to gain in any run of the sample
		}
		each = append(each, v)
	}
	i.Low, i.High = bootstrap.Percentiles(slices.Clone(each), confidence)
	return i, each
}
