package population

import (
	"cmp"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
)

// Explore asks for a program of another kind than the parent. LLM-Evo has such an operator beside its mutations, with
// directions written by hand.
type Explore struct {
	Label string // its name; "" means "explore"
	// Directions are instructions, of which each child is given one at random; nil means [Directions].
	Directions []string
	Show       func(v *View) []*Member // as in [Rewrite]
	Notes      bool                    // the memories' notes are shown; they tell of the kinds of before
}

var _ Operator = Explore{}

// Directions returns the instructions of an [Explore] that has none of its own. They fit any task.
func Directions() []string {
	return []string{
		"Write a program that solves the task by a different method than this one.",
		"Write a program that starts from the opposite assumption of this one.",
		"Write the simplest program that could score as high as this one.",
		"Find what limits the score of this program, and write a program that does not have this limit.",
		"Write a program that combines this one's method with a method from another field.",
	}
}

// Name returns Label, or "explore".
func (o Explore) Name() string { return cmp.Or(o.Label, "explore") }

// Brief draws a direction.
func (o Explore) Brief(v *View) evolve.Brief {
	list := o.Directions
	if len(list) == 0 {
		list = Directions()
	}
	direction := list[v.Rand.IntN(len(list))]
	b := Rewrite{Instruction: direction, Show: o.Show, NoNotes: !o.Notes}.Brief(v)
	b.Labels = map[string]string{"instruction": direction}
	return b
}

// Micro returns operators that each ask for one narrow change, so that the bandit over operators finds out which
// changes pay. With an empty table it is [Narrow]'s. Use it beside others:
//
//	Operators: append([]Operator{Rewrite{}}, Micro(nil)...)
func Micro(table []Rewrite) []Operator {
	if len(table) == 0 {
		table = Narrow()
	}
	list := make([]Operator, len(table))
	for i, o := range table {
		list[i] = o
	}
	return list
}

// Narrow returns the table of [Micro]: changes that fit a program in any language.
func Narrow() []Rewrite {
	return slices.Clone([]Rewrite{
		{Label: "constants", Instruction: "Change only the values of numeric constants of the program to raise its score."},
		{Label: "one line", Instruction: "Change exactly one statement of the program to raise its score."},
		{Label: "delete", Instruction: "Delete what does not contribute to the program's score, or lowers it."},
		{Label: "order", Instruction: "Change only the order in which the program does things, to raise its score."},
		{Label: "condition", Instruction: "Change, add or delete one condition of the program to raise its score."},
		{Label: "repeat", Instruction: "Change only how often the program repeats things, or when it stops, to raise its score."},
	})
}
