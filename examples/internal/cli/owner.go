package cli

import (
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
)

// An owner is the run of a journal, to which results may belong. They do not name their journal.
type owner struct {
	run      string           // a hash of what decides it
	programs map[string]bool  // keys of all programs
	again    map[string]bool  // of those that were scored more than once
	scored   map[outcome]bool // what each was scored
}

// An outcome is a program, by its key, with its score.
type outcome struct {
	program string
	valid   bool
	score   float64
}

// outcomeOf returns the outcome of a child, and false if the child has none.
func outcomeOf(c *history.Child) (o outcome, ok bool) {
	if o = (outcome{program: c.Program, valid: c.Valid}); c.Valid {
		o.score = c.Score
	}
	return o, c.Program != "" && (c.State == books.StateValid || c.State == books.StateInvalid)
}

// ownerOf returns the run of the journal at path, as far as it came. It returns nil if the journal is damaged.
func ownerOf(path, run string) *owner {
	o := &owner{run, map[string]bool{}, map[string]bool{}, map[outcome]bool{}}
	told, err := history.Read(path)
	switch {
	case told == nil: // it was only just begun
		return o
	case err != nil:
		return nil
	}
	for _, arm := range told.Arms {
		o.programs[arm.Start.Program] = true
	}
	for i := range told.Children {
		c := &told.Children[i]
		if is, ok := outcomeOf(c); ok {
			o.programs[c.Program], o.scored[is] = true, true
			o.again[c.Program] = o.again[c.Program] || c.Samples > 0
		}
	}
	return o
}

// has reports whether the result at path is of this run: each of its programs is in the journal with its score, and
// what it has of held-out cases is of a run that is decided alike.
func (o *owner) has(path string) bool {
	told, err := history.Read(path)
	if err != nil {
		return false
	}
	if h := heldOutOf(path); h != nil && h.Run != "" && h.Run != o.run {
		return false
	}
	for _, arm := range told.Arms {
		if p := arm.Start.Program; p != "" && !o.programs[p] {
			return false
		}
	}
	for i := range told.Children {
		c := &told.Children[i]
		is, ok := outcomeOf(c)
		same := o.scored[is] || o.programs[c.Program] && (c.Samples > 0 || o.again[c.Program])
		if ok && !same {
			return false
		}
	}
	return true
}

// makeWay renames the results under the name of s if one of them is not of the run that goes on with the journal at
// path, which would write over it. run is a hash of what decides that run.
func (s saver) makeWay(path, run string) (moved []renamed, err error) {
	var of *owner
	for _, base := range []string{s.partial(), s.base()} {
		if !exists(base + ".json") {
			continue
		}
		if of == nil {
			if of = ownerOf(path, run); of == nil { // which openJournal says
				return nil, nil
			}
		}
		if !of.has(base + ".json") {
			left, k, err := s.results(path)
			if err != nil {
				return nil, err
			}
			return s.rename(left, k)
		}
	}
	return nil, nil
}
