package population

import (
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// A Birth is a child that was taken in, and what it was made of.
type Birth struct {
	evolve.Child
	Task   task.Task // of the search
	Parent Member    // the zero value for the initial program, of which a Follow is told
	// Shown is what the prompt showed beside the parents, as far as bounds had room for it ([task.Request.Shown]); nil if it
	// showed nothing, or if no model was asked for the child.
	Shown []task.Section
}

// Improved reports whether the child is strictly better than its parent.
func (b Birth) Improved() bool { return b.Scored() && b.Better(b.Parent.Candidate) }

// told reports whether the model was shown a note, in the form in which prompts show it.
func (b Birth) told(note string) bool {
	alone := task.Request{Sections: []task.Section{task.Notes(note)}}.Shown()
	return len(alone) > 0 && slices.ContainsFunc(b.Shown, func(s task.Section) bool {
		return s.Name == task.ShowNotes && slices.Contains(s.Lines, alone[0].Lines[0])
	})
}

// Improved is 1 for a child that is strictly better than its parent, and else 0: for one that is not, that is
// invalid, that has no program, or that a gate refused. Nothing is learned from a call that brought no answer, because
// that is the endpoint's doing.
func Improved(b Birth) (reward float64, ok bool) {
	if b.Asked() && !b.Answered() {
		return 0, false
	}
	if b.Improved() {
		return 1, true
	}
	return 0, true
}
