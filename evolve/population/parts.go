package population

import (
	"context"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	fault "github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/task"
)

// An Archive decides who stays. It is given the initial program first, valid or not, and then every valid child. Of one
// whose parts breed by themselves there is [Islands].
//
// An archive may also have a method Place(m *Member) string. It returns where m stands, or would stand if it had been
// kept; "" if that is not known. It is asked about each valid child that was offered, and the child's label "cell" in
// journals and events is what it returns.
type Archive interface {
	// Add offers m, and reports whether it is kept. Others may leave for it.
	Add(m *Member) (kept bool)
	// Members returns those that are kept, in an order that depends on what was added alone, and not on that of a
	// map. The caller must not change the slice, and must not use it after the next Add. Best first spares selectors
	// to sort them.
	Members() []*Member
}

// What a part may have beside its own methods.
type (
	placer   interface{ Place(m *Member) string } // an Archive
	abler    interface{ Able(v *View) bool }      // an Operator
	hinter   interface{ Hint(v *View) string }    // an Operator
	follower interface{ Follow(b Birth) }         // an Operator, a Gate, an Archive or a Selector
)

// A Selector chooses a member: a parent, a partner, an inspiration.
type Selector interface {
	// Select returns one of from, which has at least one member. It draws from r alone, and must not change or keep
	// from.
	Select(from []*Member, r *rand.Rand) *Member
}

// SelectorFunc returns f as a [Selector].
func SelectorFunc(f func(from []*Member, r *rand.Rand) *Member) Selector { return selectorFunc(f) }

type selectorFunc func(from []*Member, r *rand.Rand) *Member

func (f selectorFunc) Select(from []*Member, r *rand.Rand) *Member { return f(from, r) }

func (selectorFunc) String() string { return "population.SelectorFunc" }

// An Operator says how a child is made.
//
// An operator may have further methods:
//
//   - Able(v *View) bool reports whether it can make a child of v.Parent. It is for one that cannot always, because
//     there may be nothing to repair, or nobody to cross with. The policy chooses among those that can.
//   - Hint(v *View) string returns what is added to the instruction when another operator asks a model for a child,
//     such as that numbers need not be chosen well because they are tuned afterwards; "" adds nothing. An operator
//     that writes its own Brief.Messages shows no hint.
//   - Follow(b Birth) tells it what became of its own children, in the order in which they are taken in. It is called
//     on the goroutine of the search, before the archive has the child.
type Operator interface {
	// Name stands in results: in [evolve.Child.Operator].
	Name() string
	// Brief says how the child of v.Parent is made. v.Brief() is a rewrite with the default instruction, to be changed
	// as one likes. What is left out of the result, such as the parents, is as v.Brief() has it, but for the sections.
	Brief(v *View) evolve.Brief
}

// A Gate judges a program before its evaluation is paid for.
//
// A gate may also have a method Follow(b Birth). It is told of the initial program, and then of each child, in the
// order in which they are taken in, before the archive has it. Follow is called on the goroutine of the search, while
// programs are judged on others.
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

// admission returns the Admit of a brief: the operator's own, and then the gates.
func admission(
	gates []Gate, v *View, own func(context.Context, string) (string, error),
) func(context.Context, string) (string, error) {
	return func(ctx context.Context, program string) (why string, err error) {
		if own != nil {
			if why, err = own(ctx, program); why != "" || err != nil {
				return why, err
			}
		}
		for _, g := range gates {
			if bad := fault.Guard(named("Gate", g), func() { why, err = g.Admit(ctx, v, program) }); bad != nil {
				return "", bad
			}
			if err != nil {
				return "", gateError(g, err)
			}
			if why != "" {
				return "refused by " + nameOf(g) + ": " + why, nil
			}
		}
		return "", nil
	}
}
