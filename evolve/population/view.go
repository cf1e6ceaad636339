package population

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

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
		b.Ask.Parents = append(b.Ask.Parents, m.Candidate)
		b.Parents = append(b.Parents, m.ID)
	}
	b.Ask.Sections, b.Seed = v.Sections, v.seed
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
// An error for which [evolve.Refused] is true is to be returned as it is. Any other cost this call alone.
func (a aside) Ask(ctx context.Context, kind string, l llm.LLM, messages []llm.Message) (llm.Reply, error) {
	if l == nil {
		l = a.llm
	}
	if l == nil {
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
