package replay

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
)

// Size returns how many model calls one pull of [Curves] stands for: as many as the pulls of arms have, if all have as
// many, and 1 if they differ. It returns 0 if an arm with a pull does not say.
//
// Pulls for which the budget had no room for more, at the end of a run, count as whole ones: those that come last in
// their arms and have no more calls together than a whole one.
func Size(arms []Arm) int {
	most := 0
	for _, a := range arms {
		if a.Pulls() > 0 && a.Calls == nil {
			return 0
		}
		for _, n := range a.Calls {
			most = max(most, n)
		}
	}
	short := 0
	for _, a := range arms {
		before := most
		for _, n := range a.Calls {
			if n > before {
				return 1
			}
			if n < most {
				short += n
				before = n
			}
		}
	}
	if short > most {
		return 1
	}
	return most
}

// Curves returns the arms' best scores as [sim.Oracle] and [sim.RoundRobin] take them: after 0, 1, ... pulls. They
// compare searches at equal cost. So where pulls differ in size, as with an evolve.Breadth, a curve has a score for
// each model call instead, and that of a pull stands from its last call on. [Size] tells which.
func Curves(arms []Arm) [][]float64 {
	byCall := differ(arms)
	curves := make([][]float64, len(arms))
	for i, a := range arms {
		curves[i] = a.curve(byCall)
	}
	return curves
}

// differ reports whether pulls are known to differ in size.
func differ(arms []Arm) bool {
	if Size(arms) != 1 {
		return false
	}
	for _, a := range arms {
		for _, n := range a.Calls {
			if n > 1 {
				return true
			}
		}
	}
	return false
}

// curve returns the best score after 0, 1, ... pulls or calls.
func (a Arm) curve(byCall bool) []float64 {
	if !byCall {
		return a.Best
	}
	best := []float64{a.Best[0]}
	for i, n := range a.Calls {
		for range n - 1 {
			best = append(best, a.Best[i])
		}
		best = append(best, a.Best[i+1])
	}
	return best
}

// validateCalls returns an error unless each pull, or none, says how many calls it was granted.
func (a Arm) validateCalls() error {
	if a.Calls != nil && len(a.Calls) != len(a.Best)-1 {
		return fmt.Errorf("replay: search %s: calls of %d pulls, of %d", a.Name, len(a.Calls), len(a.Best)-1)
	}
	for i, n := range a.Calls {
		if n < 1 || n > mostCalls {
			return fmt.Errorf("replay: search %s: %d calls in generation %d: need at least 1, and at most %d", a.Name, n, i+1,
				mostCalls)
		}
	}
	return nil
}

// mostCalls bounds a pull. What is played by call would take memory without end if a file named any number.
const mostCalls = evolve.MaxN

// sizes fills calls with how many calls the next pull of each arm makes. Where the log ends that is not known. Arms
// that were never pulled then have as many as another's first pull, since all searches of a run begin alike, and
// others as many as their last. It reports whether any arm says.
func sizes(calls []int, arms []Arm, pulls []int) bool {
	first := 0
	for _, a := range arms {
		if len(a.Calls) > 0 {
			first = a.Calls[0]
			break
		}
	}
	for i, a := range arms {
		switch n := len(a.Calls); {
		case pulls[i] < n:
			calls[i] = a.Calls[pulls[i]]
		case n > 0:
			calls[i] = a.Calls[n-1]
		case a.Pulls() == 0:
			calls[i] = first
		default:
			calls[i] = 0
		}
	}
	return first > 0
}
