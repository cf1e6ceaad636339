package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// EvoPromptDE keeps 10 programs. The prompt shows each of them in turn, two others and the best: what the two differ in
// is mutated, the best combined with it, and the outcome crossed with the first, whose place the child takes if it is
// better.
//
// On purpose otherwise:
//   - it begins with one program, whose rewrites take the places left; there, with 10 that a person and a model wrote;
//   - a child has its place as soon as it is scored; there, after all 10 of a generation, but for the best.
func EvoPromptDE(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = &Heirs{Size: promptsKept}, population.Uniform()
	c.Operators = []population.Operator{
		difference{population.Cross{Label: "difference", Partners: 2, Instruction: differing}},
		population.Rewrite{Label: "paraphrase",
			Instruction: "Write a variation of the program that does the same in another way."},
	}
	c.Policy = bandit.Shares{1, 0} // the second while the first cannot make a child
	return c
}

const differing = "Find in which parts programs 2 and 3 differ, and mutate these parts. Combine the best program, " +
	"which is the inspiration, " +
	"with what results. Then cross over that with program 1."

// difference is a cross with two partners that shows the best program too.
type difference struct{ population.Cross }

// Able reports whether there are three programs.
func (difference) Able(v *population.View) bool { return len(v.Part.Members()) > 2 }

// Brief makes a child of the program whose turn it is, and adds the best one to what the cross shows.
func (o difference) Brief(v *population.View) evolve.Brief {
	members := v.Part.Members()
	v.Parent = members[(v.Birth-1)%len(members)]
	b := o.Cross.Brief(v)
	best := population.Best().Select(v.Part.Members(), v.Rand)
	b.Sections = []task.Section{population.Inspirations(best)}
	return b
}

// String names the operator.
func (o difference) String() string { return o.Name() + " beside the best" }
