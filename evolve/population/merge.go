package population

import (
	"context"
	"crypto/sha256"
	"slices"

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
	// Split cuts a program into its parts, which put together are the program. Programs with different numbers of
	// parts are not merged. nil means the method Split of the task, if it has one as those of task/tree do, and else the
	// lines between those that the three programs have in common, as diff3 does.
	Split func(program string) []string

	done map[[2]int]bool       // pairs that were merged, lower ID first
	made map[[32]byte]struct{} // hashes of the programs that came of them
	next merger                // what Able found for the child that is briefed
}

// mergeTries is how many partners are looked at for a child.
const mergeTries = 10

// A merger is a pair and what comes of it.
type merger struct {
	birth         int // of the child that it is for
	better, worse *Member
	program       string
}

var _ abler = (*Merge)(nil)

// Name returns "merge".
func (o *Merge) Name() string { return "merge" }

// Able looks for a pair with v.Parent among the members of its island.
func (o *Merge) Able(v *View) bool {
	o.next = merger{birth: v.Birth}
	for _, partner := range partners(v, mergeTries) {
		if o.done[pairOf(v.Parent, partner)] {
			continue
		}
		if m, ok := o.merge(v, partner); ok {
			o.next = m
			return true
		}
	}
	return false
}

// partners returns up to n members to look at. Of very many, it draws n without a look at the others, some of which may
// be one member again and are left out.
func partners(v *View, n int) (list []*Member) {
	members := v.Part.Members()
	if len(members) < 100*n {
		return v.Sample(members, Uniform(), n)
	}
	for range n {
		m := members[v.Rand.IntN(len(members))]
		if m.ID != v.Parent.ID && m.Result.Valid && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func pairOf(a, b *Member) [2]int { return [2]int{min(a.ID, b.ID), max(a.ID, b.ID)} }

// merge merges v.Parent with a partner.
func (o *Merge) merge(v *View, partner *Member) (m merger, ok bool) {
	m = merger{birth: v.Birth, better: v.Parent, worse: partner}
	if partner.Better(v.Parent.Candidate) {
		m.better, m.worse = partner, v.Parent
	}
	ancestor, ok := v.ancestor(v.Parent, partner)
	if !ok {
		return m, false
	}
	split := o.Split
	if t, ok := task.As[interface{ Split(program string) []string }](v.Task); ok && split == nil {
		split = t.Split
	}
	var own bool
	switch programs := [3]string{ancestor.Program, m.better.Program, m.worse.Program}; {
	case split != nil:
		m.program, own = merged(programs[0], programs[1], programs[2], split)
	case len(lines(programs[0])) <= maxLines && len(lines(programs[1])) <= maxLines && len(lines(programs[2])) <= maxLines:
		m.program, own = mergedLines(programs[0], programs[1], programs[2])
	}
	if _, known := o.made[sha256.Sum256([]byte(m.program))]; known {
		return m, false
	}
	return m, own && m.program != m.better.Program && m.program != m.worse.Program
}

// Brief makes the child of the pair that Able found.
func (o *Merge) Brief(v *View) evolve.Brief {
	m := o.next
	if m.birth != v.Birth || m.better == nil {
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
