package lineage

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// run returns the candidates of a run.
func (f *file) run(rs *records) *Run {
	out := &Run{Fingerprint: make(journal.Fingerprint)}
	maps.Copy(out.Fingerprint, f.header.Fingerprint)
	maps.Copy(out.Fingerprint, rs.fingerprint)
	born := make(births)
	for _, c := range f.initial(rs) {
		born.add(c, len(out.Candidates))
		out.Candidates = append(out.Candidates, c)
	}
	seen := make(map[string]bool)
	for _, r := range rs.children {
		at := rs.draws[*r.Pull]
		c := Candidate{Arm: at.arm, Pull: *r.Pull, Step: at.step, Index: *r.Child, ID: r.ID, Operator: r.Operator, Labels: r.Labels, State: r.State}
		f.describe(&c, r)
		c.twin = seen[c.Name()]
		seen[c.Name()] = true
		c.Parents, c.Unknown = born.find(at.arm, r.Parents)
		born.add(c, len(out.Candidates))
		out.Candidates = append(out.Candidates, c)
	}
	return out
}

// initial returns the programs that the arms of a run began with: one if all arms have the same. Before the first draw
// there may be more to come, and there is none.
func (f *file) initial(rs *records) []Candidate {
	if len(rs.draws) == 0 {
		return nil
	}
	arms, _ := strconv.Atoi(rs.fingerprint["arms"])
	starts, shared := rs.arms, len(rs.arms) == arms
	if len(starts) == 0 {
		starts, shared = rs.guessed(arms)
	}
	var out []Candidate
	for _, arm := range slices.Sorted(maps.Keys(starts)) {
		c := Candidate{Arm: arm, Pull: -1}
		f.describe(&c, starts[arm])
		shared = shared && (len(out) == 0 || c.Key == out[0].Key && c.Score == out[0].Score)
		out = append(out, c)
	}
	if shared && len(out) > 0 {
		out = out[:1]
		out[0].Arm = -1
	}
	return out
}

// describe fills in what a record and those of its program say.
func (f *file) describe(c *Candidate, r journal.Record) {
	c.Key, c.Program, c.Time = r.Program, f.texts[r.Program], time.UnixMilli(r.Time).UTC()
	if r.Valid {
		c.Valid, c.Score, c.SD, c.Samples = true, r.Score, r.SD, r.Samples
	} else {
		c.Reason = cmp.Or(r.Reason, f.reasons[r.Program])
	}
}

// births are the positions of candidates by arm and ID. The initial program of all arms is of arm -1.
type births map[[2]int][]int

// add takes in a candidate. A search without a Breeder need not number its children, and they all have ID 0 then, which
// is the initial program's.
func (b births) add(c Candidate, position int) {
	if at := [2]int{c.Arm, c.ID}; c.ID > 0 || c.initial() {
		b[at] = append(b[at], position)
	}
}

// find returns the positions of the candidates of an arm that have these IDs, and the IDs that none has, or more than
// one.
func (b births) find(arm int, ids []int) (positions, unknown []int) {
	for _, id := range ids {
		found := b[[2]int{arm, id}]
		if id == 0 && len(found) == 0 {
			found = b[[2]int{-1, 0}]
		}
		switch {
		case len(found) != 1:
			unknown = append(unknown, id)
		case !slices.Contains(positions, found[0]):
			positions = append(positions, found[0])
		}
	}
	slices.SortFunc(unknown, cmp.Compare)
	return positions, slices.Compact(unknown)
}
