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
	// the start to the best that the whole budget can reach with the arms known beforehand. Its interval is a bootstrap-t of 2000
	// samples of the runs, the same for both policies (P. Hall, "Theoretical Comparison of Bootstrap Confidence
	// Intervals", 1988): it works everything out anew in each, and holds for skewed differences too. With fewer than six
	// runs, or if most samples have no two runs that differ, it is of percentiles.
	Mean Interval
	// Worst is the smallest one of a setting, with its own interval, and WorstAt the setting.
	Worst   Interval
	WorstAt Setting
}

// fewestStudentized is the least number of runs for a bootstrap-t.
const fewestStudentized = 6

// GainOver returns by how much the named policy ends above another one, over all cells. Cells in which there is
// nothing to gain are left out. It panics if a cell has no such policy.
func GainOver(cells []Cell, name, other string) Gain {
	g := Gain{Mean: unknown(), Worst: unknown()}
	sum := estimates{each: make([]estimate, resamples)}
	draws := make(map[int][]sample) // by number of runs
	n := 0
	for _, c := range cells {
		runs := len(c.Oracle)
		if draws[runs] == nil {
			draws[runs] = newSamples(runs)
		}
		of := c.gain(name, other, draws[runs])
		if math.IsNaN(of.all.value) {
			continue
		}
		sum.add(of, n == 0)
		n++
		if i := of.interval(); n == 1 || i.Value < g.Worst.Value {
			g.Worst, g.WorstAt = i, c.Setting
		}
	}
	if n > 0 {
		g.Mean = sum.interval()
		for _, v := range []*float64{&g.Mean.Value, &g.Mean.Low, &g.Mean.High} {
			*v /= float64(n)
		}
	}
	return g
}

// gain returns that of one cell, of all runs and of each sample of them.
func (c Cell) gain(name, other string, samples []sample) estimates {
	one, two := c.Entry(name).Final, c.Entry(other).Final
	of := func(weights sample) estimate {
		var above, room, squares float64
		for run, w := range weights {
			above += float64(w) * (one[run] - two[run])
			room += float64(w) * (c.Oracle[run] - c.Start[run])
		}
		if room <= 0 {
			return estimate{math.NaN(), math.NaN()}
		}
		share := above / room
		for run, w := range weights {
			off := one[run] - two[run] - share*(c.Oracle[run]-c.Start[run])
			squares += float64(w) * off * off
		}
		n := float64(len(weights))
		return estimate{share, squares * n / (n - 1) / (room * room)}
	}
	e := estimates{runs: len(one), all: of(once(len(one)))}
	for _, s := range samples {
		v := of(s)
		if math.IsNaN(v.value) {
			v = estimate{value: e.all.value} // nothing to gain in any run of the sample
		}
		e.each = append(e.each, v)
	}
	return e
}

// A sample is how often each run is in a sample of the runs.
type sample []uint16

// once returns the sample that has each of n runs once.
func once(n int) sample { return slices.Repeat(sample{1}, n) }

// newSamples returns samples of n of n runs, drawn with replacement, the same ones every time.
func newSamples(n int) []sample {
	samples := make([]sample, resamples)
	plan().Each([]int{n}, func(i int, draw [][]int) {
		samples[i] = make(sample, n)
		for _, run := range draw[0] {
			samples[i][run]++
		}
	})
	return samples
}

// An estimate is a gain and its variance, that of the linear part of the ratio.
type estimate struct{ value, variance float64 }

// estimates are those of all runs and of samples of them.
type estimates struct {
	runs int // the fewest of a cell
	all  estimate
	each []estimate
}

// add sums estimates of runs that are independent of each other.
func (e *estimates) add(of estimates, first bool) {
	if first || of.runs < e.runs {
		e.runs = of.runs
	}
	e.all.value, e.all.variance = e.all.value+of.all.value, e.all.variance+of.all.variance
	for i, v := range of.each {
		e.each[i].value, e.each[i].variance = e.each[i].value+v.value, e.each[i].variance+v.variance
	}
}

func (e estimates) interval() Interval {
	i := Interval{Value: e.all.value}
	width, values := math.Sqrt(e.all.variance), make([]float64, 0, len(e.each))
	for _, v := range e.each {
		if sd := math.Sqrt(v.variance); sd > 1e-9*width { // less is rounding
			values = append(values, (v.value-e.all.value)/sd)
		}
	}
	if e.runs >= fewestStudentized && width > 0 && 2*len(values) >= len(e.each) {
		low, high := bootstrap.Percentiles(values, confidence)
		i.Low, i.High = i.Value-width*high, i.Value-width*low
		return i
	}
	values = values[:0]
	for _, v := range e.each {
		values = append(values, v.value)
	}
	i.Low, i.High = bootstrap.Percentiles(values, confidence)
	return i
}
