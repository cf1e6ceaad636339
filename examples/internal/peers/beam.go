package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// Beam keeps five programs: the best, and then each time the one with the largest 0.7·score + 0.3·distance from the
// nearest that was taken. A parent is drawn in proportion to exp(0.7·score + 0.3·distance), with the mean distance from
// ten programs that were parents. Distance is that of sets of three characters (Jaccard). Shown are the four best of
// all programs but for the parent. The reply is a diff.
//
// On purpose otherwise:
//   - where the original goes by the order of a set, of equals the older is taken, and the ten are any of the parents;
//   - the best that is shown is last; there, first;
//   - one may be selected that left the beam while children of it are under way.
//
// The formulas are made for scores from 0 to 1, here as there: in larger units only the best programs are drawn.
func Beam(s Setting) population.Config {
	b := &beam{width: 5, best: population.Top(1 + contextShown)}
	c := s.config()
	c.Archive, c.Select = b, byBeam{b}
	c.Operators = []population.Operator{population.Rewrite{Form: task.AsDiff, Show: b.shown}}
	return c
}

// A beam is SkyDiscover's archive of beam search.
//
// Source: skydiscover/search/beam_search/database.py.
type beam struct {
	width   int
	list    []*population.Member
	best    population.Archive // of all that were added
	parents []*population.Member
}

var _ population.Archive = (*beam)(nil)

// The weights of score and distance.
const (
	scoreWeight    = 0.7
	distanceWeight = 0.3
	parentsSeen    = 10
)

// Add keeps m if it is among those that are taken.
func (b *beam) Add(m *population.Member) bool {
	b.best.Add(m)
	b.list = append(b.list, m)
	if len(b.list) > b.width {
		b.prune()
	}
	return slices.Contains(b.list, m)
}

// prune takes the best, and then those that are good and unlike what was taken.
func (b *beam) prune() {
	left := shapesOf(ranking(b.list))
	taken := left[:1:1]
	for left = left[1:]; len(taken) < b.width; {
		at, value := 0, math.Inf(-1)
		for i, m := range left {
			near := 1.0
			for _, t := range taken {
				near = min(near, m.distance(t))
			}
			if v := scoreWeight*m.Result.Score + distanceWeight*near; v > value {
				at, value = i, v
			}
		}
		taken, left = append(taken, left[at]), slices.Delete(left, at, at+1)
	}
	b.list = slices.DeleteFunc(b.list, func(m *population.Member) bool {
		return !slices.ContainsFunc(taken, func(t shape) bool { return t.Member == m })
	})
}

// Members returns the beam, the oldest first.
func (b *beam) Members() []*population.Member { return b.list }

// shown returns the best programs of all but for the parent.
func (b *beam) shown(v *population.View) []task.Section {
	return shownBeside(v, b.best.Members(), population.Best())
}

// String names the archive and its width.
func (b *beam) String() string { return fmt.Sprintf("Beam(%d)", b.width) }

// byBeam selects by score and by distance from parents of before. The first one goes by score alone.
type byBeam struct{ *beam }

var _ population.Selector = byBeam{}

// Select returns one of from, and counts it among the parents.
func (s byBeam) Select(from []*population.Member, r *rand.Rand) *population.Member {
	var seen []*population.Member
	for _, i := range r.Perm(len(s.parents))[:min(parentsSeen, len(s.parents))] {
		seen = append(seen, s.parents[i])
	}
	parents := shapesOf(seen)
	values := make(map[*population.Member]float64, len(from))
	top := math.Inf(-1)
	for _, m := range shapesOf(from) {
		v := m.Result.Score
		if len(parents) > 0 {
			sum := 0.0
			for _, p := range parents {
				sum += m.distance(p)
			}
			v = scoreWeight*v + distanceWeight*sum/float64(len(parents))
		}
		values[m.Member], top = v, max(top, v)
	}
	m := population.ByWeight(func(m *population.Member) float64 { return math.Exp(values[m] - top) }).Select(from, r)
	if !slices.ContainsFunc(s.parents, func(p *population.Member) bool { return p.ID == m.ID }) {
		s.parents = append(s.parents, m)
	}
	return m
}

// String names the selector.
func (byBeam) String() string { return "ByBeam" }

// A shape is a program and the sets of three characters in a row that it has, in order.
type shape struct {
	*population.Member
	grams []uint64
}

func shapesOf(members []*population.Member) []shape {
	list := make([]shape, len(members))
	for i, m := range members {
		list[i] = shape{m, trigrams(m.Program)}
	}
	return list
}

// distance returns 1 − |A ∩ B|/|A ∪ B| of the sets of two programs; 1 if one program is empty, and 0 if neither has a
// set.
func (a shape) distance(b shape) float64 {
	x, y := a.grams, b.grams
	switch {
	case a.Program == "" || b.Program == "":
		return 1
	case len(x)+len(y) == 0:
		return 0
	}
	all := len(x) + len(y)
	both := 0
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			both, x, y = both+1, x[1:], y[1:]
		}
	}
	return 1 - float64(both)/float64(all-both)
}

// trigrams returns the sets of three characters, each as one number.
func trigrams(text string) (set []uint64) {
	const bits = 21 // of a character
	last, n := uint64(0), 0
	for _, r := range text {
		last = (last<<bits | uint64(r)) & (1<<(3*bits) - 1)
		if n++; n >= 3 {
			set = append(set, last)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}
