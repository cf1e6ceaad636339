package population

import (
	"cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// InTurn asks for a new text of one part of the parent, and keeps the others as they are. Of a parent's children each
// changes the next part, round and round (GEPA). The first one is the parent's ID modulo the number of parts, so that
// members that have one child each do not all change the same part. GEPA goes on where the parent's own parent was.
//
// It is for tasks that are a [task.Partitioner], such as those of task/text. In any other task, and for a program of one
// part, it is a [Rewrite] under its own name.
type InTurn struct {
	Label       string // its name; "" means "in turn"
	Instruction string // what is asked for; "" means task.DefaultInstruction
}

var _ Operator = InTurn{}

// Name returns Label, or "in turn".
func (o InTurn) Name() string { return cmp.Or(o.Label, "in turn") }

// Brief asks for a new text of the part whose turn it is.
func (o InTurn) Brief(v *View) evolve.Brief {
	b := v.Brief()
	b.Instruction = o.Instruction
	t, ok := task.As[task.Partitioner](v.Task)
	if !ok {
		return b
	}
	parent := v.Parent.Program
	if names := t.PartNames(parent); len(names) > 1 {
		part := names[(v.Parent.ID+v.Parent.Asked)%len(names)]
		b.Part, b.Parse = part, func(reply string) (string, error) { return t.ParsePart(part, parent, reply) }
	}
	return b
}
