package population

import (
	"cmp"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// A Hinter is an [Operator] that has something to tell the model when another operator asks it, such as that numbers need
// not be chosen well because they are tuned afterwards.
type Hinter interface {
	Operator
	// Hint returns what is added to the instruction of a child that a model is asked for; "" adds nothing. An operator
	// that writes its own Brief.Messages shows no hint.
	Hint(v *View) string
}

// A Follower is an [Operator] that is told what became of its children, in the order in which they are taken in. It is
// called on the goroutine of the search, before the archive has the child.
type Follower interface {
	Operator
	Follow(b Birth)
}

// hint adds what the operators have to tell to the instruction of b.
func (p *Population) hint(b *evolve.Brief, v *View) error {
	for _, o := range p.cfg.Operators {
		h, ok := o.(Hinter)
		if !ok {
			continue
		}
		var text string
		if err := guard(named("Operator", o), func() { text = h.Hint(v) }); err != nil {
			return err
		}
		if text != "" {
			b.Instruction = strings.TrimSpace(cmp.Or(b.Instruction, task.DefaultInstruction)) + "\n" + text
		}
	}
	return nil
}

// followed tells the operator of x of its child.
func (p *Population) followed(x *expected, b Birth) error {
	o := p.cfg.Operators[x.operator.arm]
	f, ok := o.(Follower)
	if !ok {
		return nil
	}
	return guard(named("Operator", o), func() { f.Follow(b) })
}
