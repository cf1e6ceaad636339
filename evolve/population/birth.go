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
	Parent *Member   // nil for the initial program, of which a Follow is told
	Kept   bool      // the archive kept it; known to memories, and not yet to a Credit
	// Shown is what the model was shown beside the parents; nil if the operator left it out or asked no model.
	Shown []task.Section

	among Archive
}

// Improved reports whether the child is strictly better than its parent.
func (b Birth) Improved() bool { return b.Scored() && b.Better(b.Parent.Candidate) }

// told reports whether the model was shown a note.
func (b Birth) told(note string) bool {
	return slices.ContainsFunc(b.Shown, func(s task.Section) bool {
		return s.Name == task.ShowNotes && slices.Contains(s.Lines, note)
	})
}

// Among returns the members of the archive, or of its part that bred. For a Credit the child is not among them yet.
// They must not be changed.
func (b Birth) Among() []*Member { return b.among.Members() }
