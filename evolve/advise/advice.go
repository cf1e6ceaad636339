package advise

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// An Advice is what a pilot led to. Its split rests on few searches, often one a breadth, so another pilot may well
// advise another: only a grid with several seeds, and [analysis.Grid.Intervals], says how sure a split is.
type Advice struct {
	Arm int // the arm that has the rest of the calls
	// N is the calls of a pull of that arm, and T the pulls that it comes to with the rest.
	T, N int
	// Surface is what was fitted, the zero value if nothing was.
	Surface analysis.Surface
	// Fallback is why nothing was fitted, and the arm is the one with the best score; "" otherwise.
	Fallback string

	gaps []float64 // by arm; the least is preferred
}

// String returns the split and what it rests on.
func (a Advice) String() string {
	s := fmt.Sprintf("arm %d, T=%d N=%d", a.Arm, a.T, a.N)
	if a.Fallback != "" {
		return s + ", the best so far: " + a.Fallback
	}
	return s + fmt.Sprintf(", by a surface fitted to %d cells", a.Surface.Fit.N)
}

// advise works the advice out of the pilot.
func (p *Policy) advise() Advice {
	a := Advice{gaps: make([]float64, len(p.arms))}
	surface, err := p.fit()
	for i := range p.arms {
		switch t, n := p.split(i); {
		case n == 0:
			a.gaps[i] = math.Inf(1)
		case err == nil:
			a.gaps[i] = surface.At(float64(t), float64(n))
		default:
			a.gaps[i] = -p.arms[i].last().score
		}
		if a.gaps[i] < a.gaps[a.Arm] {
			a.Arm = i
		}
	}
	a.Surface = surface
	if a.T, a.N = p.split(a.Arm); err != nil {
		a.Fallback = err.Error()
	}
	return a
}

// last returns the last point of the pilot, the zero value if the arm has none.
func (c course) last() point {
	if len(c.points) == 0 {
		return point{}
	}
	return c.points[len(c.points)-1]
}

// split returns the pulls that an arm comes to with all calls that are left, and the calls of one. They are 0 if it was
// not pulled.
func (p *Policy) split(arm int) (t, n int) {
	c := p.arms[arm]
	if len(c.points) == 0 {
		return 0, 0
	}
	n, left := c.points[0].calls, p.Calls
	for i, other := range p.arms {
		if i != arm {
			left -= other.last().calls
		}
	}
	return max(len(c.points), left/n), n
}

// fit fits the surface to what the arms came to in the pilot. An error says why it cannot be fitted.
func (p *Policy) fit() (analysis.Surface, error) {
	runs, low, high := p.runs()
	switch {
	case !(high > low):
		return analysis.Surface{}, errors.New("all scores of the pilot are the same")
	case !finite(2 * (high - low)):
		return analysis.Surface{}, fmt.Errorf("the scores of the pilot, %v to %v, are too far apart", low, high)
	case p.Ceiling != nil && high > *p.Ceiling:
		return analysis.Surface{}, fmt.Errorf("the score %v is above the ceiling %v", high, *p.Ceiling)
	}
	ceiling := high + (high - low)
	if p.Ceiling != nil {
		ceiling = *p.Ceiling
	}
	grid, err := analysis.NewGrid(runs, analysis.GridConfig{Ceiling: &ceiling, Epsilon: cmp.Or(1e-4*(high-low), math.SmallestNonzeroFloat64)})
	if err != nil {
		return analysis.Surface{}, err
	}
	s, err := grid.Surface()
	if err == nil && !finite(s.B0+s.A+s.B+s.C) {
		return analysis.Surface{}, fmt.Errorf("the fitted surface %v, %v, %v, %v is not finite", s.B0, s.A, s.B, s.C)
	}
	return s, err
}

// runs returns the pilot as runs of greedy search, and the least and the greatest score of it.
func (p *Policy) runs() (runs []analysis.Run, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i, c := range p.arms {
		if len(c.points) == 0 {
			continue
		}
		// No cell is made of the score before the first pull, which is not known.
		run := analysis.Run{T: len(c.points), N: c.points[0].calls, Seed: int64(i), Best: []float64{c.points[0].score}, Answered: []int{0}}
		had := 0
		for _, at := range c.points {
			run.Best, run.Answered = append(run.Best, at.score), append(run.Answered, at.calls-had)
			low, high, had = min(low, at.score), max(high, at.score), at.calls
		}
		runs = append(runs, run)
	}
	return runs, low, high
}
