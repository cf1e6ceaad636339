package peers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A pool is GEPA's archive: every program that was accepted, and when to merge two of them.
type pool struct {
	seed  uint32
	list  []*population.Member
	due   int      // merges that programs were accepted for, less those that were accepted
	done  int      // merges that were accepted
	found bool     // a program was accepted since the last try to merge
	now   bool     // the child that is briefed is a merge
	made  sync.Map // births of merges
}

var _ population.Archive = (*pool)(nil)

// The bounds of merging.
const (
	mostMerges  = 5
	mergedCases = 5 // on which a merge is judged, and that its parents must have
	mergedTries = 10
)

// Add keeps m, unless it is a merge that is worse than one of its parents on some cases.
func (p *pool) Add(m *population.Member) bool {
	if m.Operator == mergeName {
		if !p.accepts(m) {
			return false
		}
		p.due--
		p.done++
	} else if m.ID > 0 {
		p.found = true
		if p.done < mostMerges {
			p.due++
		}
	}
	p.list = append(p.list, m)
	return true
}

// Members returns all, the oldest first.
func (p *pool) Members() []*population.Member { return p.list }

// String names the archive.
func (p *pool) String() string { return "Pool" }

// accepts reports whether a merge is at least as good as each of its parents on some cases.
func (p *pool) accepts(m *population.Member) bool {
	var parents [][]float64
	for _, k := range p.list {
		if slices.Contains(m.Parents, k.ID) {
			parents = append(parents, casesOf(k))
		}
	}
	if len(parents) != 2 {
		return false
	}
	on := judged(parents[0], parents[1], stream.New(uint64(p.seed), "gepa merge", uint64(m.ID)))
	own := sumOf(casesOf(m), on)
	return own >= sumOf(parents[0], on) && own >= sumOf(parents[1], on)
}

func sumOf(scores []float64, on []int) (sum float64) {
	for _, c := range on {
		if c >= len(scores) { // a case that it has no score of
			return math.Inf(-1)
		}
		sum += scores[c]
	}
	return sum
}

// judged draws the cases on which a merge is judged: up to two at which the first parent is better, two at which the
// second is, one at which neither is, and any others while there are too few.
//
// Source: gepa/proposer/merge.py, select_eval_subsample_for_merged_program.
func judged(first, second []float64, r *rand.Rand) (cases []int) {
	var better [3][]int // the first, the second, neither
	var all []int
	for c := range min(len(first), len(second)) {
		all = append(all, c)
		switch {
		case first[c] > second[c]:
			better[0] = append(better[0], c)
		case second[c] > first[c]:
			better[1] = append(better[1], c)
		default:
			better[2] = append(better[2], c)
		}
	}
	take := func(from []int, n int) {
		for _, i := range r.Perm(len(from))[:min(n, len(from))] {
			cases = append(cases, from[i])
		}
	}
	for _, from := range better {
		take(from, min(2, mergedCases-len(cases)))
	}
	take(slices.DeleteFunc(all, func(c int) bool { return slices.Contains(cases, c) }), mergedCases-len(cases))
	return cases
}

const mergeName = "merge"

// merges is a merge of two needed members of a pool, when one is due.
type merges struct {
	population.Merge
	pool *pool
}

// Able looks for a pair, once after each program that was accepted.
func (o *merges) Able(v *population.View) bool {
	p := o.pool
	due := p.due > 0 && p.found
	p.now, p.found = false, false
	if !due {
		return false
	}
	needed, _ := neededOf(p.list)
	needed = slices.DeleteFunc(needed, func(m *population.Member) bool { return len(casesOf(m)) < mergedCases })
	if len(needed) < 2 {
		return false
	}
	among := *v
	among.Part = &pool{list: needed}
	for range mergedTries {
		among.Parent = needed[v.Rand.IntN(len(needed))]
		if p.now = o.Merge.Able(&among); p.now {
			return true
		}
	}
	return false
}

// Brief makes the child of the pair that Able found.
func (o *merges) Brief(v *population.View) evolve.Brief {
	o.pool.made.Store(v.Birth, true)
	return o.Merge.Brief(v)
}

// unmerged screens all but merges, which the pool judges.
type unmerged struct {
	population.Screen
	pool *pool
}

// Admit admits merges, and screens others.
func (g unmerged) Admit(ctx context.Context, v *population.View, program string) (why string, err error) {
	if _, ok := g.pool.made.Load(v.Birth); ok {
		return "", nil
	}
	return g.Screen.Admit(ctx, v, program)
}
