package population

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A View is what stands around one child when it is briefed: what an [Operator] makes it of, and what a [Gate] knows
// of it later. Nothing in it may be changed but Parent, by an operator that makes the child of another member. Parent
// is a copy. What a part writes to other members changes no score that the search claims, and no rank in an archive of
// this package.
//
// A gate judges while the search goes on. It may use Task, the Candidate and the ID of Parent, the numbers, Ask and
// Evaluate. All, Part, Invalid and Rand are for the goroutine of the brief.
type View struct {
	Task    task.Task
	Parent  *Member
	All     Archive   // the whole archive
	Part    Archive   // the island that breeds; All if the archive has no parts
	Invalid []*Member // the newest invalid programs, at most 32, oldest first
	// Sections are what the memories show with the parent that was selected.
	Sections []task.Section
	// Rand is the child's own stream. Who draws from it more or less changes this child and no other.
	Rand *rand.Rand
	// Step counts the search's steps from 1, Index the children of the step from 0, Birth those of the search from 1.
	// Taken is how many programs the gates were told of by then, the initial one included.
	Step, Index, Birth, Taken int

	seed   uint32  // of the child's request
	parent *Member // the archive's member of which Parent is a copy
	elders *elders
	aside
}

// Brief asks for a rewrite of Parent, with the memories' Sections, and with partners as further parents. It is what an
// operator begins with.
func (v *View) Brief(partners ...*Member) evolve.Brief {
	var b evolve.Brief
	for _, m := range append([]*Member{v.Parent}, partners...) {
		if v.parent != nil && m.ID == v.parent.ID {
			v.elders.add(v.parent)
		} else {
			v.elders.add(m)
		}
		b.Ask.Parents = append(b.Ask.Parents, m.Candidate)
		b.From = append(b.From, m.ID)
	}
	b.Ask.Sections, b.Seed = v.Sections, v.seed
	return b
}

// Sample returns up to n different members of from, each chosen by the selector from those that are left. Parent is
// not among them, and invalid members are only if there are no valid ones.
func (v *View) Sample(from []*Member, by Selector, n int) []*Member {
	from = field(from)
	left := make([]*Member, 0, len(from))
	for _, m := range from {
		if m.ID != v.Parent.ID {
			left = append(left, m)
		}
	}
	var chosen []*Member
	for len(chosen) < n && len(left) > 0 {
		m := by.Select(left, v.Rand)
		at := slices.Index(left, m)
		if at < 0 {
			panic("population: Selector " + nameOf(by) + " returns none of the members that it was given")
		}
		chosen = append(chosen, m)
		left = slices.Delete(left, at, at+1)
	}
	return chosen
}

// Lookup returns the member with an ID, if a child was ever made of it and it is remembered: up to 64 MiB of them are.
func (v *View) Lookup(id int) (*Member, bool) {
	m, ok := v.elders.of[id]
	return m, ok
}

// ancestor returns the youngest common ancestor of two members that is not better than either, as far as ancestors are
// remembered. A member is not its own ancestor here: the program that one was made from the other is in the other.
func (v *View) ancestor(a, b *Member) (ancestor *Member, found bool) {
	return v.elders.ancestor(a, b)
}

// field returns the members that may be chosen: those that are valid, or all of them if none is.
func field(members []*Member) []*Member {
	invalid := slices.IndexFunc(members, func(m *Member) bool { return !m.Result.Valid })
	if invalid < 0 {
		return members
	}
	valid := make([]*Member, 0, len(members))
	for _, m := range members {
		if m.Result.Valid {
			valid = append(valid, m)
		}
	}
	if len(valid) == 0 {
		return members
	}
	return valid
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
// An error for which [evolve.Refused] is true is to be returned as it is. Any other cost this call alone.
func (a aside) Ask(ctx context.Context, kind string, l llm.LLM, messages []llm.Message) (llm.Reply, error) {
	if l == nil {
		l = a.llm
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
