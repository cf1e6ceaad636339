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
	// Show returns what is shown beside the parent and not to be changed, in this order; nil means nothing. Models
	// weigh what comes last most, so ShinkaEvolve shows the best last. Each program costs as many tokens as the parent.
	Show    func(v *View) []*Member
	NoNotes bool // the memories' notes are not shown
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
	if o.NoNotes {
		b.Notes = nil
	}
	if o.Show != nil {
		b.Inspirations = candidates(o.Show(v))
	}
	b.Form = o.Form
	return b
}

func candidates(members []*Member) []eval.Candidate {
	list := make([]eval.Candidate, len(members))
	for i, m := range members {
		list[i] = m.Candidate
	}
	return list
}
