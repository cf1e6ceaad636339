package race

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// HillClimb is greedy searches on a real objective, as evolve.Greedy makes them with programs. Each
// generation freezes the parent and makes N children by editing its points; the best child replaces the
// parent if it is strictly better. Nothing about the course of the scores is assumed.
//
// A child is one of four edits: some points (two on average) moved, eight times in ten; all points moved, one
// in ten; a rewrite with all points drawn anew, one in twenty; or a failure without a score, one in twenty.
// Moves are normal with a deviation that is log-uniform in 0.001 to 0.3 per child, except that one moved
// point in ten is put anywhere.
type HillClimb struct {
	// Objective is one of "cp", circle packing with 26 circles, "mmd", min/max distance of 16 points, and
	// "ht", Heilbronn's triangle with 11 points, scored as in task/geometry. Arm panics if it is another one.
	Objective string
	// Rounded rounds coordinates to two decimals, as models write numbers, so that the last digits cannot be
	// polished.
	Rounded bool
	// Few gives each parent only so many distinct children, 8 to 128 log-uniformly, as a model of low entropy
	// does. A search that has seen them all without success stagnates for ever.
	Few bool
	// Neutral lets a child that is as good as its parent replace it, so that the search drifts. Otherwise it has
	// to be better, as in evolve.Greedy.
	Neutral bool
}

var _ Drifter = HillClimb{}

// HillClimbs returns the hill-climbs on the three objectives, in all four forms.
func HillClimbs() []HillClimb {
	var all []HillClimb
	for _, objective := range []string{"cp", "mmd", "ht"} {
		for _, few := range []bool{false, true} {
			for _, rounded := range []bool{false, true} {
				all = append(all, HillClimb{Objective: objective, Rounded: rounded, Few: few})
			}
		}
	}
	return all
}

// String returns the objective's name and those of the options that are set: "cp-rounded-few".
func (h HillClimb) String() string {
	name := h.Objective
	if h.Rounded {
		name += "-rounded"
	}
	if h.Few {
		name += "-few"
	}
	if h.Neutral {
		name += "-neutral"
	}
	return name
}

// Drifting implements [Drifter].
func (h HillClimb) Drifting() Stepper {
	h.Neutral = true
	return h
}

// Search implements [Stepper]. It panics if the objective is unknown.
func (h HillClimb) Search(a sim.Address) Search {
	o, ok := objectives[h.Objective]
	if !ok {
		panic(fmt.Sprintf("race: unknown objective %q of a HillClimb: it is one of cp, mmd, ht", h.Objective))
	}
	return newSearch(h, o, a)
}

// Arm implements [sim.Family]. It panics where Search does.
func (h HillClimb) Arm(a sim.Address) []float64 { return trajectory(h.Search(a), a) }

// search is a hill-climb under way. What a child is depends on its parent and its own seed alone, so that a
// parent with few children can have the same child twice. The seeds come from a stream of their own.
type search struct {
	objective
	greedy
	rounded bool
	rand    *rand.Rand // of which children are made
	edits   rand.PCG   // seeded for each child
	edit    *rand.Rand
	few     *repertoire
}

func newSearch(h HillClimb, o objective, a sim.Address) *search {
	s := &search{greedy: newGreedy(o.start(), h.Neutral, o.score), objective: o, rounded: h.Rounded,
		rand: random(a, HillClimb{Objective: h.Objective, Rounded: h.Rounded, Few: h.Few}.String())}
	s.edit = rand.New(&s.edits)
	s.greedy.propose = s.next
	if h.Few {
		s.few = &repertoire{}
		s.few.renew(s.rand)
		s.moved = func() { s.few.renew(s.rand) }
	}
	return s
}

// Best implements [Search].
func (s *search) Best() float64 { return min(s.best, 1) }

// next makes a child, and reports whether it has a score. A child that this parent had before has none, because its
// score is known.
func (s *search) next() bool {
	seed := s.rand.Uint64()
	if s.few != nil {
		if seed = s.few.draw(s.rand); seed == 0 {
			return false
		}
	}
	s.edits.Seed(seed, 0)
	return s.change()
}

// change makes a child by the edits of its seed, and reports whether it has a score.
func (s *search) change() bool {
	copy(s.child, s.parent)
	step := scale(s.edit, 0.001, 0.3)
	switch u := s.edit.Float64(); {
	case u < 0.05:
		return false
	case u < 0.1:
		return s.all(s.redraw)
	case u < 0.2:
		return s.all(func(i int) bool { return s.move(i, step) })
	}
	return s.some(func(i int) bool {
		if s.edit.Float64() < 0.1 {
			return s.redraw(i)
		}
		return s.move(i, step)
	})
}

// all edits every point. It reports whether all of them stay in the domain.
func (s *search) all(edit func(i int) bool) bool {
	for i := range s.points {
		if !edit(i) {
			return false
		}
	}
	return true
}

// some edits points drawn at random, one at least, and after each another one with chance one half. It
// reports whether all of them stay in the domain.
func (s *search) some(edit func(i int) bool) bool {
	for more := true; more; more = s.edit.Float64() < 0.5 {
		if !edit(s.edit.IntN(s.points)) {
			return false
		}
	}
	return true
}

// redraw puts point i anywhere.
func (s *search) redraw(i int) bool { return s.put(i, s.sample) }

// move shifts point i by a normal step.
func (s *search) move(i int, step float64) bool {
	return s.put(i, func(r *rand.Rand) (x, y float64) {
		return s.child[2*i] + step*r.NormFloat64(), s.child[2*i+1] + step*r.NormFloat64()
	})
}

// put sets point i, and reports whether it is in the domain.
func (s *search) put(i int, at func(r *rand.Rand) (x, y float64)) bool {
	x, y := at(s.edit)
	if s.rounded {
		x, y = math.Round(x*100)/100, math.Round(y*100)/100
	}
	x, y, ok := s.keep(x, y)
	s.child[2*i], s.child[2*i+1] = x, y
	return ok
}

// repertoire is the few distinct children of a parent.
type repertoire struct {
	base uint64
	size int
	seen [2]uint64 // by child, one bit each
}

func (p *repertoire) renew(r *rand.Rand) {
	p.base, p.size, p.seen = r.Uint64()|1, int(scale(r, 8, 129)), [2]uint64{}
}

// draw returns the seed of a child, never 0, or 0 if that child has been drawn before.
func (p *repertoire) draw(r *rand.Rand) uint64 {
	i := r.IntN(p.size)
	if p.seen[i/64]>>(i%64)&1 != 0 {
		return 0
	}
	p.seen[i/64] |= 1 << (i % 64)
	return p.base + 2*uint64(i)
}
