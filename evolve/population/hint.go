package population

import (
	"cmp"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	fault "github.com/evoalloc/evoalloc/evolve/internal/step"
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
		if err := fault.Guard(named("Operator", o), func() { text = h.Hint(v) }); err != nil {
			return err
		}
		if text != "" {
			b.Instruction = strings.TrimSpace(cmp.Or(b.Instruction, task.DefaultInstruction)) + "\n" + text
		}
	}
	return nil
}

// followed tells the operator that made the child x, the selector, the archive and the gates what became of x.
func (p *Population) followed(x *expected, b Birth) error {
	o := p.operator(x)
	return firstOf(
		func() error { return follow("Operator", o, b) },
		func() error { return follow("Selector", p.cfg.Select, b) },
		func() error { return follow("Archive", p.cfg.Archive, b) },
		func() error { return p.followedByGates(b) },
	)
}

// followedByGates tells the gates of a child, or of the initial program.
func (p *Population) followedByGates(b Birth) error {
	if b.Scored() {
		p.taken++
	}
	for _, g := range p.cfg.Gates {
		if err := follow("Gate", g, b); err != nil {
			return err
		}
	}
	return nil
}

// follow tells a part of a child, if it has a method for it.
func follow(what string, part any, b Birth) error {
	f, ok := part.(follower)
	if !ok {
		return nil
	}
	return fault.Guard(named(what, part), func() { f.Follow(b) })
}
