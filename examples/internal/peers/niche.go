package peers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// A niche is an island of AdaEvolve. While there is room it keeps every program. Then a newcomer competes with the
// program that is most like it, but for the best fifth, and takes its place if fewer of the island's programs are
// better than it than stand above the other.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/archive/unified_archive.py, with its default weights: fitness
// alone.
type niche struct {
	*adaptive
	at   int
	room int
	list []*inhabitant // oldest first
	gains
}

// An inhabitant is a program on an island, and what its distance from others depends on.
type inhabitant struct {
	*population.Member
	outline outline
}

var _ population.Archive = (*niche)(nil)

// Add keeps m if it is good enough.
func (l *niche) Add(m *population.Member) bool { return l.put(m, m.ID == 0 && l.at > 0) }

// put offers m. What the island has gained from another one earns it nothing.
func (l *niche) put(m *population.Member, migrant bool) bool {
	r := &inhabitant{m, outlineOf(m.Program)}
	if len(l.list) >= l.room {
		old := l.rival(r)
		if old == nil || l.above(r) >= slices.Index(l.ranked(), old) {
			return false
		}
		i := slices.Index(l.list, old)
		l.list = slices.Delete(l.list, i, i+1)
	}
	l.list = append(l.list, r)
	if m.Result.Valid {
		l.best = l.note(m.Result.Score, l.best, migrant)
	}
	return true
}

// rival returns the program that is most like r, but for the best fifth.
func (l *niche) rival(r *inhabitant) (nearest *inhabitant) {
	safe := l.top(max(1, len(l.list)/5))
	least := 0.0
	for _, k := range l.list {
		if slices.Contains(safe, k) {
			continue
		}
		if d := r.outline.distance(k.outline); nearest == nil || d < least {
			nearest, least = k, d
		}
	}
	return nearest
}

// above returns how many programs are better than r.
func (l *niche) above(r *inhabitant) (n int) {
	for _, k := range l.list {
		if k.Better(r.Candidate) {
			n++
		}
	}
	return n
}

// ranked returns the programs, the best first, and of equals the older.
func (l *niche) ranked() []*inhabitant { return rankedOf(l.list) }

func rankedOf(list []*inhabitant) []*inhabitant {
	ranked := slices.Clone(list)
	slices.SortStableFunc(ranked, func(a, b *inhabitant) int {
		return byScore(&resident{Member: a.Member}, &resident{Member: b.Member})
	})
	return ranked
}

// top returns the n best.
func (l *niche) top(n int) []*inhabitant { return l.ranked()[:min(n, len(l.list))] }

// has reports whether an inhabitant has the program.
func (l *niche) has(program string) bool {
	return slices.ContainsFunc(l.list, func(r *inhabitant) bool { return r.Program == program })
}

// Members returns all, the oldest first.
func (l *niche) Members() []*population.Member {
	members := make([]*population.Member, len(l.list))
	for i, r := range l.list {
		members[i] = r.Member
	}
	return members
}

// String names the island and its room.
func (l *niche) String() string { return fmt.Sprintf("Niche(%d)", l.room) }

// novelty returns the mean distance of r from its five nearest, 1 if it is alone.
func (l *niche) novelty(r *inhabitant) float64 {
	const nearest = 5
	var far []float64
	for _, k := range l.list {
		if k != r {
			far = append(far, r.outline.distance(k.outline))
		}
	}
	if len(far) == 0 {
		return 1
	}
	slices.Sort(far)
	sum := 0.0
	for _, d := range far[:min(nearest, len(far))] {
		sum += d
	}
	return sum / float64(min(nearest, len(far)))
}

// parent draws a parent.
func (l *niche) parent(mode string, r *rand.Rand) *inhabitant {
	share := 4 // of the best that are exploited
	if mode == balances {
		share = 5
		if mode = explores; r.Float64() < 0.5 {
			mode = exploits
		}
	}
	if mode == exploits {
		best := l.top(max(1, len(l.list)/share))
		return best[r.IntN(len(best))]
	}
	of := make(map[*population.Member]*inhabitant, len(l.list))
	weights := make(map[*population.Member]float64, len(l.list))
	for _, k := range l.list {
		of[k.Member], weights[k.Member] = k, max(l.novelty(k), 0.001)
	}
	return of[population.ByWeight(func(m *population.Member) float64 { return weights[m] }).Select(l.Members(), r)]
}

// context returns the programs that are shown beside the parent: the two of the better half, at least of the best four,
// that are most unlike it, and the two best of all islands. The best is last, and none is shown twice.
func (l *niche) context(parent *inhabitant) (shown []*population.Member) {
	const local, global = 2, 2
	unlike := slices.DeleteFunc(l.top(max(2*local, len(l.list)/2)), func(r *inhabitant) bool { return r == parent })
	slices.SortStableFunc(unlike, func(a, b *inhabitant) int {
		x, y := parent.outline.distance(a.outline), parent.outline.distance(b.outline)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var all []*inhabitant
	for _, k := range l.islands {
		all = append(all, k.list...)
	}
	all = slices.DeleteFunc(rankedOf(all), func(r *inhabitant) bool { return r == parent })
	list := slices.Concat(unlike[:min(local, len(unlike))], all[:min(global, len(all))])
	seen := map[string]bool{parent.Program: true}
	ranked := rankedOf(list)
	slices.Reverse(ranked)
	for _, r := range ranked {
		if !seen[r.Program] && r.Result.Valid {
			seen[r.Program] = true
			shown = append(shown, r.Member)
		}
	}
	return shown
}
