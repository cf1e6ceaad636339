package population

import (
	"cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// Rewrite asks the model for a rewrite of the parent. The zero value is greedy search's operator.
type Rewrite struct {
	Label       string // its name; "" means "rewrite"
	Instruction string // what is asked for; "" means task.DefaultInstruction
	// Show returns what is shown beside the parent; nil means v.Sections, which is what the memories show. For other
	// members there is [Inspirations]; a func that returns nil shows nothing.
	Show func(v *View) []task.Section
	// InTurn asks for a new text of one part of the parent, and keeps the others as they are. Of a parent's children each
	// changes the next part, round and round (GEPA). The first one is the parent's ID modulo the number of parts, so that
	// members that have one child each do not all change the same part. GEPA goes on where the parent's own parent was.
	//
	// It is for tasks that are a [task.Partitioner], such as those of task/text. In any other, and for a program of one
	// part, it changes nothing.
	InTurn bool
	// Form is how the model has to reply: with the whole program, or with a diff. 0 means as the task asks for. With a
	// task that knows one form alone it changes nothing.
	Form task.Form
}

var _ Operator = Rewrite{}

// Name returns Label, or "rewrite".
func (o Rewrite) Name() string { return cmp.Or(o.Label, "rewrite") }

// Brief asks for a rewrite of v.Parent.
func (o Rewrite) Brief(v *View) evolve.Brief {
	b := v.Brief()
	b.Instruction = o.Instruction
	if o.Show != nil {
		b.Sections = o.Show(v)
	}
	b.Form = o.Form
	if o.InTurn {
		v.inTurn(&b)
	}
	return b
}

// inTurn has b ask for a new text of the part whose turn it is.
func (v *View) inTurn(b *evolve.Brief) {
	t, ok := task.As[task.Partitioner](v.Task)
	if !ok {
		return
	}
	if names := t.PartNames(v.Parent.Program); len(names) > 1 {
		b.Part = names[(v.Parent.ID+v.Parent.Asked())%len(names)]
	}
}

// Inspirations returns the section of members, the one that matters most last. Each program costs as many tokens as the
// parent.
func Inspirations(members ...Member) task.Section {
	programs := make([]eval.Candidate, len(members))
	for i, m := range members {
		programs[i] = m.Candidate
	}
	return task.Inspirations(programs...)
}
