package population

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
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

// A View is what stands around one child when it is briefed: what an [Operator] makes it of, and what a [Gate] knows
// of it later. Nothing in it may be changed but Parent, by an operator that makes the child of another member.
//
// A gate judges while the search goes on. It may use Task, the Candidate and the ID of Parent, the numbers, Ask and
// Evaluate. All, Part, Invalid and Rand are for the goroutine of the brief.
type View struct {
	Task    task.Task
	Parent  Member
	All     Archive  // the whole archive
	Part    Archive  // the island that breeds; All if the archive has no parts
	Invalid []Member // the newest invalid programs, at most 32, oldest first
	// Sections are what the memories show with the parent that was selected.
	Sections []task.Section
	// Rand is the child's own stream. Who draws from it more or less changes this child and no other.
	Rand *rand.Rand
	// Step counts the search's steps from 1, Index the children of the step from 0, Birth those of the search from 1.
	// Taken is how many programs the gates were told of by then, the initial one included.
	Step, Index, Birth, Taken int

	seed   uint32 // of the child's request
	elders *elders
	aside
}

// Brief asks for a rewrite of Parent, with the memories' Sections, and with partners as further parents. It is what an
// operator begins with.
func (v *View) Brief(partners ...Member) evolve.Brief {
	var b evolve.Brief
	for _, m := range append([]Member{v.Parent}, partners...) {
		v.elders.add(m)
		b.Request.Parents = append(b.Request.Parents, m.Candidate)
		b.From = append(b.From, m.ID)
	}
	b.Request.Sections, b.Seed = v.Sections, v.seed
	return b
}

// Sample returns up to n different members of from, each chosen by the selector from those that are left. Parent is
// not among them, and invalid members are only if there are no valid ones.
func (v *View) Sample(from []Member, by Selector, n int) []Member {
	left := slices.DeleteFunc(slices.Clone(field(from)), func(m Member) bool { return m.ID == v.Parent.ID })
	var chosen []Member
	for len(chosen) < n && len(left) > 0 {
		at := by.Select(left, v.Rand)
		chosen = append(chosen, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return chosen
}

// Lookup returns the member with an ID, if a child was ever made of it and it is remembered: up to 64 MiB of them are.
func (v *View) Lookup(id int) (Member, bool) {
	m, ok := v.elders.of[id]
	return m, ok
}

// An aside is how a part asks a model, or has a program scored, beside the children.
type aside struct {
	turn   *evolve.Turn
	llm    llm.LLM
	stream func(name string, index int) *rand.Rand
	birth  int
}

// Ask asks l, or the search's model if l is nil, for something else than a child. kind is what for, in one word:
// "judge", "insights". The call is within the budget, is recorded and recalled, and is among the asides of the step.
// Its seed is addressed by kind and the child.
//
// Return an error for which [evolve.Refused] is true unchanged. Any other error costs this call alone.
func (a aside) Ask(ctx context.Context, kind string, l llm.LLM, messages []llm.Message) (llm.Reply, error) {
	if l = cmp.Or(l, a.llm); l == nil {
		return llm.Reply{}, fmt.Errorf("population: there is no model to ask for %s: Config.LLM is nil", kind)
	}
	return a.turn.Ask(ctx, kind, l, llm.Request{Messages: messages, Seed: a.stream("aside "+kind, a.birth).Uint32()})
}

// Evaluate scores program with e, as [evolve.Turn.Evaluate] does for sample 0: within the budget, and once in a run for
// each program and evaluator.
func (a aside) Evaluate(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	return a.turn.Evaluate(ctx, e, program, 0)
}

// Tune scores program with e for an operator that chooses numbers, as [evolve.Turn.Tune] does: within
// Budget.TuneEvaluations and no other limit.
func (a aside) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	return a.turn.Tune(ctx, e, program)
}

// TuneBudget returns the Budget.TuneEvaluations of the run.
func (a aside) TuneBudget() int { return a.turn.TuneBudget() }
