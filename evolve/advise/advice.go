package advise

import (
	"errors"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// An Advice is what a pilot led to.
type Advice struct {
	Arm  int // the one that has the rest of the calls
	T, N int // its split: N is its breadth, and T the generations that it comes to with the rest
	// Gaps are the fitted logarithms of what is missing to the ceiling at the end, by arm; nil if there was no fit.
	Gaps    []float64
	Surface analysis.Surface
	// Fallback is why the pilot did not decide, so that the first arm has the rest. "" means that it did.
	Fallback string
}

// String says what is advised, and by what.
func (a Advice) String() string {
	s := fmt.Sprintf("T=%d N=%d", a.T, a.N)
	if a.Fallback != "" {
		return s + ", the default: " + a.Fallback
	}
	return s + fmt.Sprintf(", by a fit of %d cells with R² = %.2f", a.Surface.Fit.N, a.Surface.Fit.R2)
}

// rank returns the preference for an arm: without a fit the first one comes first.
func (a Advice) rank(arm int) float64 {
	if a.Gaps == nil {
		return -float64(arm)
	}
	return -a.Gaps[arm]
}

// advise works the advice out of the pilot alone.
func (p *Policy) advise() Advice {
	a := Advice{N: p.Breadths[0], T: p.depth(0)}
	surface, err := p.fit()
	if err != nil {
		a.Fallback = err.Error()
		return a
	}
	a.Surface = surface
	for i, n := range p.Breadths {
		t := p.depth(i)
		a.Gaps = append(a.Gaps, surface.At(float64(t), float64(n)))
		if a.Gaps[i] < a.Gaps[a.Arm] {
			a.Arm, a.T, a.N = i, t, n
		}
	}
	return a
}

// depth returns the generations that an arm comes to if it has all calls that the pilot leaves.
func (p *Policy) depth(arm int) int {
	left := p.Calls
	for i, c := range p.arms {
		if i != arm && len(c.points) > 0 {
			left -= c.points[len(c.points)-1].calls
		}
	}
	return max(1, left/p.Breadths[arm])
}

// fit fits the surface to what the arms had in the pilot.
func (p *Policy) fit() (analysis.Surface, error) {
	low, high := math.Inf(1), math.Inf(-1)
	var runs []analysis.Run
	for i, c := range p.arms {
		if len(c.points) == 0 {
			continue
		}
		run := analysis.Run{Method: "greedy", T: len(c.points), N: p.Breadths[i], Seed: int64(i), Best: []float64{c.points[0].score}}
		for _, at := range c.points {
			low, high = min(low, at.score), max(high, at.score)
			run.Best = append(run.Best, at.score)
		}
		runs = append(runs, run)
	}
	if !(high > low) {
		return analysis.Surface{}, errors.New("no search of the pilot rose above another")
	}
	ceiling := high + (high - low)
	if p.Ceiling != nil {
		ceiling = *p.Ceiling
	}
	grid, err := analysis.NewGrid(runs, analysis.GridConfig{Ceiling: &ceiling, Epsilon: 1e-4 * (high - low)})
	if err != nil {
		return analysis.Surface{}, err
	}
	if high > ceiling {
		return analysis.Surface{}, fmt.Errorf("a score of %v is above the ceiling of %v", high, ceiling)
	}
	return grid.Surface()
}
