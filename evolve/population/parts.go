package population

import (
	"context"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// An Archive decides who stays. It is given the initial program first, valid or not, and then every valid child. Of one
// whose parts breed by themselves there is [Islands]. It may be a [Follower] and a [Placer].
type Archive interface {
	// Add offers m, and reports whether it is kept. Others may leave for it. If a member with m's ID is kept, m is that one
	// with another result, after it was scored again or demoted, and takes its place: see [Replace].
	Add(m Member) (kept bool)
	// Members returns those that are kept, in an order that depends on what was added alone, and not on that of a
	// map. The caller must not change the slice, and must not use it after the next Add. Best first spares selectors
	// to sort them.
	Members() []Member
}

// A Selector chooses a member: a parent, a partner, an inspiration. That of Config.Select may be a [Follower].
type Selector interface {
	// Select returns the index of one of from, which has at least one member. It draws from r alone, and must not change
	// or keep from.
	Select(from []Member, r *rand.Rand) int
}

// SelectorFunc returns f as a [Selector].
func SelectorFunc(f func(from []Member, r *rand.Rand) int) Selector { return selectorFunc(f) }

type selectorFunc func(from []Member, r *rand.Rand) int

func (f selectorFunc) Select(from []Member, r *rand.Rand) int { return f(from, r) }

func (selectorFunc) String() string { return "population.SelectorFunc" }

// An Operator says how a child is made. It may be an [Abler], a [Hinter] and a [Follower].
type Operator interface {
	// Name stands in results: in [evolve.Child.Operator].
	Name() string
	// Brief says how the child of v.Parent is made. v.Brief() is a rewrite with the default instruction, to be changed
	// as one likes. What is left out of the result, such as the parents, is as v.Brief() has it, but for the sections.
	Brief(v *View) evolve.Brief
}

// A Gate judges a program before its evaluation is paid for. It may be a [Follower].
type Gate interface {
	// Admit returns "" to admit program, and else why it is refused, which costs that child alone. An error ends the
	// search. It is called on the goroutine of the child, while others are judged. So that the decision does not depend
	// on who comes first, it must not depend on what was taken in after v was made: see View.Taken.
	Admit(ctx context.Context, v *View, program string) (why string, err error)
}

// GateFunc returns f as a [Gate].
func GateFunc(f func(ctx context.Context, v *View, program string) (why string, err error)) Gate {
	return gateFunc(f)
}

type gateFunc func(ctx context.Context, v *View, program string) (why string, err error)

func (f gateFunc) Admit(ctx context.Context, v *View, program string) (why string, err error) {
	return f(ctx, v, program)
}

func (gateFunc) String() string { return "population.GateFunc" }

// A Memory learns from attempts and tells later ones.
type Memory interface {
	// Section returns what the prompt shows with v.Parent. The zero value shows nothing.
	Section(v *View) task.Section
	// Learn is called after a child was taken in. It may ask a model through s. The search waits for it, though
	// children that are under way go on, so it should ask seldom. An error ends the search, but for one for which
	// [evolve.Refused] is true.
	Learn(ctx context.Context, s *Season) error
}

// A Season is what a [Memory] learns from.
type Season struct {
	Task   task.Task
	Births []Birth        // since the last call
	Best   eval.Candidate // of the search
	aside
}
