package population

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// Explore asks for a program of another kind than the parent. LLM-Evo has such an operator beside its mutations, with
// directions written by hand. What memories tell of kinds tried earlier is not shown by default.
type Explore struct {
	// Directions are instructions, of which each child is given one at random; nil means five that fit any task.
	Directions []string
	// Show is as in [Rewrite], but nil shows nothing.
	Show func(v *View) []task.Section
}

var _ Operator = Explore{}

// directions are the instructions of an [Explore] that has none of its own.
var directions = [...]string{
	"Write a program that solves the task by a different method than this one.",
	"Write a program that starts from the opposite assumption of this one.",
	"Write the simplest program that could score as high as this one.",
	"Find what limits the score of this program, and write a program that does not have this limit.",
	"Write a program that combines this one's method with a method from another field.",
}

// Name returns "explore".
func (Explore) Name() string { return "explore" }

// Brief draws a direction.
func (o Explore) Brief(v *View) evolve.Brief {
	list := o.Directions
	if len(list) == 0 {
		list = directions[:]
	}
	direction := list[v.Rand.IntN(len(list))]
	show := o.Show
	if show == nil {
		show = func(*View) []task.Section { return nil }
	}
	b := Rewrite{Instruction: direction, Show: show}.Brief(v)
	b.Labels = map[string]string{"instruction": direction}
	return b
}
