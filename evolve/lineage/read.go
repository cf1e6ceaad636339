package lineage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// Read reads the runs of the journal at path, in the order of the file. It takes no lock, so the run may go on. A child
// is in the file once its search has taken it in.
//
// The texts of all distinct programs are in memory afterwards.
func Read(path string) ([]*Run, error) {
	f := &file{builder: history.NewBuilder(), texts: make(map[string]string)}
	for r, err := range record.Read(path) {
		if err == nil {
			err = f.take(r)
		}
		if err != nil {
			return nil, fmt.Errorf("lineage: %w", err)
		}
	}
	if !f.begun {
		return nil, fmt.Errorf("lineage: %s has no whole record: it is not a journal, or was only just begun", path)
	}
	runs := make([]*Run, len(f.given))
	for i := range runs {
		runs[i] = f.run(i)
	}
	return runs, nil
}

// A file is what was read of a journal.
type file struct {
	builder *history.Builder
	begun   bool
	texts   map[string]string     // of programs, by key; all runs of the file share them
	given   []journal.Fingerprint // of each run, when it began
}

// take takes in the next record.
func (f *file) take(r record.Record) error {
	switch r.Kind {
	case record.Header:
		if r.Version != record.Version {
			return fmt.Errorf("%w: it has version %d, and this program reads %d", journal.ErrVersion, r.Version, record.Version)
		}
		f.begun = true
	case record.Run:
		f.given = append(f.given, r.Fingerprint)
	case record.Program:
		f.texts[r.Key] = r.Text
		// A program that differs from an earlier one in white space at the end is not evaluated again, and so has no
		// record in journals of earlier versions. What a model repeats of a program mostly lacks the end of the last line.
		if bare := strings.TrimRight(r.Text, " \t\r\n"); bare != r.Text && bare != "" {
			f.texts[record.KeyOf(bare).String()] = bare
		}
	}
	if row := f.builder.Add(r); row < 0 && r.Kind == record.Child && len(f.given) > 0 && !f.over(*r.Pull) {
		return fmt.Errorf("record %d is a child of pull %d, and no record says which arm that drew", r.Index, *r.Pull)
	}
	return nil
}

// over reports whether a pull of the last run has ended.
func (f *file) over(pull int) bool {
	run := f.builder.Run()
	return slices.ContainsFunc(run.Rounds, func(r history.Round) bool {
		return r.Pull == pull && r.Over && run.Arms[r.Arm].Run == run.Runs
	})
}

// run returns the candidates of a run of the file.
func (f *file) run(i int) *Run {
	out := &Run{Fingerprint: make(journal.Fingerprint)}
	all := f.builder.Run()
	maps.Copy(out.Fingerprint, all.Header)
	maps.Copy(out.Fingerprint, f.given[i])
	born := make(births)
	for _, c := range f.initial(i) {
		born.add(c, len(out.Candidates))
		out.Candidates = append(out.Candidates, c)
	}
	seen := make(map[string]bool)
	for _, child := range childrenOf(all, i) {
		c := f.candidate(all, child)
		c.twin = seen[c.Name()]
		seen[c.Name()] = true
		c.Parents, c.Unknown = born.find(c.Arm, child.Parents)
		born.add(c, len(out.Candidates))
		out.Candidates = append(out.Candidates, c)
	}
	return out
}

// childrenOf returns the children of the i-th run of a file in the order in which they were told of last, without those
// of steps that were cut short and made again without them.
func childrenOf(all *history.Run, i int) (children []*history.Child) {
	for k := range all.Children {
		if c := &all.Children[k]; all.Arms[c.Arm].Run == i+1 && !c.Gone {
			children = append(children, c)
		}
	}
	slices.SortFunc(children, func(a, b *history.Child) int { return cmp.Compare(a.Record, b.Record) })
	return children
}

func (f *file) candidate(all *history.Run, c *history.Child) Candidate {
	round := all.Rounds[c.Round]
	out := Candidate{Arm: all.Arms[c.Arm].Number, Pull: round.Pull, Step: round.Step, Index: c.Index, Proposal: c.Proposal,
		Key: c.Program, Program: f.texts[c.Program], Time: time.UnixMilli(c.Stamp).UTC()}
	if c.Valid {
		out.Reason = ""
	}
	return out
}

// initial returns the programs that the arms of a run began with: one if all arms have the same. Before the first draw
// there may be more to come, and there is none.
func (f *file) initial(i int) (out []Candidate) {
	shared, drawn := true, false
	for _, a := range f.builder.Run().Arms {
		drawn = drawn || a.Run == i+1 && a.Steps > 0
		if a.Run != i+1 || !a.Start.Known {
			continue
		}
		c := Candidate{Arm: a.Number, Pull: -1, Key: a.Start.Program, Program: f.texts[a.Start.Program],
			Time:     time.UnixMilli(a.Start.Stamp).UTC(),
			Proposal: books.Proposal{Valid: a.Start.Valid, Score: a.Start.Value}}
		if !c.Valid {
			c.Score, c.Reason = 0, a.Start.Reason
		}
		shared = shared && (len(out) == 0 || c.Key == out[0].Key && c.Score == out[0].Score)
		out = append(out, c)
	}
	switch arms, _ := strconv.Atoi(f.given[i]["arms"]); {
	case !drawn:
		return nil
	case shared && len(out) > 0 && len(out) == arms:
		out = out[:1]
		out[0].Arm = -1
	}
	return out
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
