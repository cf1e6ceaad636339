package population

import (
	"context"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	fault "github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/task"
)

// A Birth is a child that was taken in, and what it was made of.
type Birth struct {
	evolve.Child
	Task   task.Task // of the search
	Parent *Member   // nil for the initial program, of which a Follow is told
	// Shown is what the prompt showed beside the parents, as far as bounds had room for it ([task.Ask.Shown]); nil if it
	// showed nothing, or if no model was asked for the child.
	Shown []task.Section
}

// Improved reports whether the child is strictly better than its parent.
func (b Birth) Improved() bool { return b.Scored() && b.Better(b.Parent.Candidate) }

// told reports whether the model was shown a note, in the form in which prompts show it.
func (b Birth) told(note string) bool {
	alone := task.Ask{Sections: []task.Section{task.Notes(note)}}.Shown()
	return len(alone) > 0 && slices.ContainsFunc(b.Shown, func(s task.Section) bool {
		return s.Name == task.ShowNotes && slices.Contains(s.Lines, alone[0].Lines[0])
	})
}

// show notes what the prompt of b shows: that of the Ask which its Prepare returns, if it has one.
func (p *Population) show(x *expected, b *evolve.Brief) error {
	if b.Make != nil {
		return nil
	}
	prepare := b.Prepare
	if prepare == nil {
		return fault.Guard("Task", func() { x.sections = task.Asked(p.cfg.Task, b.Ask).Shown() })
	}
	b.Prepare = func(ctx context.Context, ask task.Ask) (task.Ask, string, error) {
		now, why, err := prepare(ctx, ask)
		if why == "" && err == nil { // the child is taken in only after this
			x.sections = task.Asked(p.cfg.Task, now).Shown()
		}
		return now, why, err
	}
	return nil
}
