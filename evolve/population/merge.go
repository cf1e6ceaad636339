package population

import (
	"context"
	"crypto/sha256"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// Merge combines two members that descend from a common ancestor, without a model (GEPA). Of each part of the program
// the child has what a member has made of the ancestor's, and what the better one has made of it where both have
// changed it. The ancestor is the youngest that is not better than either; each must have changed a part that the
// other has not changed in the same way.
//
// A pair is merged once, and a program that was made before is not made again. A child of it costs its evaluation and
// no call. GEPA's own measurements have it help one model and hurt another; it pays where many cases are scored
// ([Fronts]).
//
// Source: L. A. Agrawal et al. (arXiv 2507.19457), appendix F.
type Merge struct {
	done map[[2]int]bool       // pairs that were merged, lower ID first
	made map[[32]byte]struct{} // hashes of the programs that came of them
	next merger                // what Able found for the child that is briefed
}

// mergeTries is how many partners are looked at for a child.
const mergeTries = 10

// A merger is a pair and what comes of it.
type merger struct {
	birth         int // of the child that it is for
	better, worse Member
	program       string
	found         bool
}

var _ Abler = (*Merge)(nil)

// A Splitter is a task that says what the parts of a program are that [Merge] takes from one parent or the other, as
// those of task/tree do. Of other tasks they are the lines between those that all three programs have in common, as
// diff3 has them.
type Splitter interface {
	// Split returns the parts, which put together are the program. Programs with different numbers of parts are not
	// merged.
	Split(program string) []string
}

// Name returns "merge".
func (o *Merge) Name() string { return "merge" }

// Able looks for a pair with v.Parent among the members of its island.
func (o *Merge) Able(v *View) bool {
	o.next = merger{birth: v.Birth}
	for _, partner := range v.Sample(v.Part.Members(), Uniform(), mergeTries) {
		if o.done[pairOf(v.Parent, partner)] {
			continue
		}
		if o.next = o.merge(v, partner); o.next.found {
			return true
		}
	}
	return false
}

func pairOf(a, b Member) [2]int { return [2]int{min(a.ID, b.ID), max(a.ID, b.ID)} }

// merge merges v.Parent with a partner.
func (o *Merge) merge(v *View, partner Member) merger {
	m := merger{birth: v.Birth, better: v.Parent, worse: partner}
	if partner.Better(v.Parent.Candidate) {
		m.better, m.worse = partner, v.Parent
	}
	ancestor, ok := v.elders.ancestor(v.Parent, partner)
	if !ok {
		return m
	}
	var own bool
	a, b, w := ancestor.Program, m.better.Program, m.worse.Program
	if t, ok := task.As[Splitter](v.Task); ok {
		m.program, own = merged(a, b, w, t.Split)
	} else if max(len(lines(a)), len(lines(b)), len(lines(w))) <= maxLines {
		m.program, own = mergedLines(a, b, w)
	}
	_, known := o.made[sha256.Sum256([]byte(m.program))]
	m.found = own && !known && m.program != b && m.program != w
	return m
}

// Brief makes the child of the pair that Able found.
func (o *Merge) Brief(v *View) evolve.Brief {
	m := o.next
	if m.birth != v.Birth || !m.found {
		panic("population: Merge.Brief without a pair: ask Able first")
	}
	if o.done == nil {
		o.done, o.made = make(map[[2]int]bool), make(map[[32]byte]struct{})
	}
	o.made[sha256.Sum256([]byte(m.program))] = struct{}{}
	o.done[pairOf(m.better, m.worse)] = true
	v.Parent = m.better
	b := v.Brief(m.worse)
	b.Make = func(context.Context, *evolve.Work) (string, error) { return m.program, nil }
	return b
}
