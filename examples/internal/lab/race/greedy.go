package race

import "slices"

// greedy is a greedy search of solutions that are lists of numbers. It holds what a [HillClimb] and a [Landscape] have
// in common.
type greedy struct {
	neutral            bool
	parent, child, top []float64 // child is the one being made, top the best of the generation
	best               float64
	propose            func() bool               // makes child of parent, and reports whether it has a score
	worth              func(x []float64) float64 // a solution's score
	moved              func()                    // is called when there is another parent
}

// newGreedy returns a search from a solution. Set propose and moved.
func newGreedy(start []float64, neutral bool, worth func(x []float64) float64) greedy {
	return greedy{neutral: neutral, parent: start, child: make([]float64, len(start)), top: make([]float64, len(start)),
		best: worth(start), worth: worth, moved: func() {}}
}

// Best implements [Search].
func (g *greedy) Best() float64 { return g.best }

// Step implements [Search].
func (g *greedy) Step(n int) (better int) {
	mustStep(n)
	best, found := g.best, false
	for range n {
		if !g.propose() {
			continue
		}
		score := g.worth(g.child)
		if score > g.best {
			better++
		}
		if score > best || g.neutral && score == best {
			best, found = score, true
			g.child, g.top = g.top, g.child
		}
	}
	if found {
		g.best = best
		g.parent, g.top = g.top, g.parent
		g.moved()
	}
	return better
}

// Child implements [Search].
func (g *greedy) Child() Child {
	if !g.propose() {
		return failed
	}
	return Child{g.worth(g.child), slices.Clone(g.child)}
}

// Take implements [Search].
func (g *greedy) Take(c Child) float64 {
	if c.score > g.best || g.neutral && c.score == g.best {
		g.best, g.parent = c.score, c.state
		g.moved()
	}
	return c.score
}
