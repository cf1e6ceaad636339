package main

import (
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// withAttempts returns a search whose prompts show earlier attempts on the parent, whatever else its operators show.
func withAttempts(cfg population.Config) population.Config {
	told := &population.Attempts{OfParent: true}
	cfg.Memory = append(cfg.Memory, told)
	cfg.Operators = slices.Clone(cfg.Operators)
	for i, o := range cfg.Operators {
		if r, plain := o.(population.Rewrite); !plain || r.Show != nil { // a rewrite without a Show shows all memories
			cfg.Operators[i] = telling{o, told}
		}
	}
	return cfg
}

// telling is an operator whose prompts show the attempts on the parent that it has chosen. If it shows attempts of its
// own, these stand.
type telling struct {
	population.Operator
	told *population.Attempts
}

// Brief makes the child.
func (o telling) Brief(v *population.View) evolve.Brief {
	v.Sections = slices.DeleteFunc(slices.Clone(v.Sections), ofAttempts) // of the parent that the selector has chosen
	b := o.Operator.Brief(v)
	if !slices.ContainsFunc(b.Sections, ofAttempts) {
		b.Sections = append(slices.Clip(b.Sections), o.told.Section(v))
	}
	return b
}

// ofAttempts reports whether a section has attempts.
func ofAttempts(s task.Section) bool { return s.Name == task.ShowAttempts && len(s.Lines) > 0 }

// Able reports whether the operator can make a child.
func (o telling) Able(v *population.View) bool { return population.Able(o.Operator, v) }

// Hint returns what the operator has to tell to others.
func (o telling) Hint(v *population.View) string { return population.Hint(o.Operator, v) }

// Follow tells the operator of a child.
func (o telling) Follow(b population.Birth) { population.Follow(o.Operator, b) }

// String names the operator.
func (o telling) String() string {
	name := o.Name()
	if s, ok := o.Operator.(fmt.Stringer); ok {
		name = s.String()
	}
	return name + " with attempts"
}
