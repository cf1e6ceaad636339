package population

import (
	"cmp"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// hint adds what the operators have to tell to the instruction of b.
func (p *Population) hint(b *evolve.Brief, v *View) error {
	for _, o := range p.cfg.Operators {
		h, ok := o.(hinter)
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
	f, ok := o.(follower)
	if !ok {
		return nil
	}
	return guard(named("Operator", o), func() { f.Follow(b) })
}
