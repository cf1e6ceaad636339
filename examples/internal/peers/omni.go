package peers

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// Omni races searches and hands the best program on: each has an equal slice of the calls, and what is left, about one
// slice more, is for the first of them begun anew, from the best program that any has found; of equals, from that of
// the earlier one. All calls that are answered count, those that score children too. A step is not cut short, so a
// search is granted as many children as its slice has calls for, by the largest mean that a search of the race has come
// to. A search's first step is one child while nothing is known, and wherever children take more calls than their own.
//
// On purpose otherwise:
//   - the engines that are raced are this library's GEPA, its default search and OpenEvolve; there, GEPA and two that
//     drive a coding agent (AutoResearch, Meta-Harness);
//   - searches take turns of a step, within one budget; there, each runs at once with a budget of its own;
//   - slices are in calls; there, in dollars.
type Omni struct {
	*evolve.Allocator
	names  []string
	calls  int
	racers []*racer
	anew   uint32 // the seed of the last search
}

var _ evolve.Sizer = Omni{}

// defaultOmniCalls are the calls of which slices are made if a Setting has none.
const defaultOmniCalls = 256

// newOmni returns the race of these searches, which make names.
func newOmni(names []string, calls int, seed uint32,
	of func(i int, seed uint32, start *eval.Candidate) (evolve.Arm, error)) (Omni, error) {
	if calls == 0 {
		calls = defaultOmniCalls
	}
	slice := max(1, calls/(len(names)+1))
	at := func(i int) uint32 {
		word, _ := stream.Seed(uint64(seed), "omni", uint64(i))
		return uint32(word >> 32)
	}
	fresh := &heir{make: func(start *eval.Candidate) (evolve.Arm, error) { return of(0, at(len(names)), start) }}
	var arms []evolve.Arm
	var dearest float64
	for i := range names {
		arm, err := of(i, at(i), nil)
		if err != nil {
			return Omni{}, err
		}
		fresh.from = append(fresh.from, &racer{Arm: arm, left: slice, dearest: &dearest})
		arms = append(arms, fresh.from[i])
	}
	a, err := evolve.NewAllocator(evolve.Config{Arms: append(arms, fresh), Policy: race{}})
	return Omni{a, names, calls, fresh.from, at(len(names))}, err
}

// Step steps one of the searches, and takes what that brought off its slice. The searches cannot count this themselves:
// what scored a child is in the generation once the allocator has taken it in.
func (o Omni) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	before := len(o.Result().Rounds)
	gen, err := o.Allocator.Step(ctx, turn)
	res := o.Result()
	for _, round := range res.Rounds[before:] {
		if arm := round.Pull.Arm; arm < len(o.racers) {
			o.racers[arm].take(res.Arms[arm].Generations[round.Generation])
		}
	}
	return gen, err
}

// String says what decides the race: the searches, which of them begins anew, with which seed, and the calls.
func (o Omni) String() string {
	var list []string
	for _, r := range o.racers {
		list = append(list, fmt.Sprint(r.Arm))
	}
	return fmt.Sprintf("Omni(%s, then %s anew with seed %d, of %d calls)", strings.Join(list, ", "), o.names[0], o.anew,
		o.calls)
}

// A racer is a search that is done when it has had so many answers.
type racer struct {
	evolve.Arm
	left            int
	spent, children int
	dearest         *float64 // the largest mean of calls for a child that a search of the race has; 0 if none is known
}

// take counts the answers of a step.
func (r *racer) take(gen evolve.Generation) {
	for attempts := range gen.EachCall {
		if c := (evolve.Child{Attempts: attempts}); c.Answered() {
			r.spent, r.left = r.spent+1, r.left-1
		}
	}
	r.children += len(gen.Children)
	*r.dearest = max(*r.dearest, float64(r.spent)/float64(max(r.children, 1)))
}

// Calls returns how many children the next step would like, no more than there are calls left for.
func (r *racer) Calls() int {
	if *r.dearest == 0 || *r.dearest > 1 && r.children == 0 {
		return 1
	}
	return min(callsOf(r.Arm), max(1, int(float64(r.left)/max(*r.dearest, 1))))
}

// Done reports whether the search had its answers, as nearly as a child more or less comes to them.
func (r *racer) Done() bool { return float64(r.left) < max(*r.dearest, 1)/2 || r.Arm.Done() }

// Start begins the search.
func (r *racer) Start(ctx context.Context, turn *evolve.Turn) error {
	if s, ok := r.Arm.(evolve.Starter); ok {
		return s.Start(ctx, turn)
	}
	return nil
}

// Unwrap returns the search.
func (r *racer) Unwrap() evolve.Arm { return r.Arm }

func callsOf(a evolve.Arm) int {
	if s, ok := a.(evolve.Sizer); ok {
		return s.Calls()
	}
	return 1
}

// An heir is a search that begins at its first step, from the best program of others.
type heir struct {
	from []*racer
	make func(start *eval.Candidate) (evolve.Arm, error)
	arm  evolve.Arm
}

// Step begins the search if it has not begun, and steps it.
func (h *heir) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	if h.arm == nil {
		start := h.Best()
		arm, err := h.make(&start)
		if err != nil {
			return evolve.Generation{}, err
		}
		h.arm = arm
	}
	return h.arm.Step(ctx, turn)
}

// Best returns the search's best program, and before it begins that of the others.
func (h *heir) Best() eval.Candidate {
	if h.arm != nil {
		return h.arm.Best()
	}
	best := h.from[0].Best()
	for _, r := range h.from[1:] {
		if c := r.Best(); c.Better(best) {
			best = c
		}
	}
	return best
}

// Calls returns how many calls the next step would like.
func (h *heir) Calls() int { return callsOf(h.Unwrap()) }

// Done reports whether the search is.
func (h *heir) Done() bool { return h.arm != nil && h.arm.Done() }

// Unwrap returns the search, or one that is like it before it begins.
func (h *heir) Unwrap() evolve.Arm {
	if h.arm != nil {
		return h.arm
	}
	return h.from[0].Arm
}

// race pulls the arms but for the last in turn, and the last when those are done.
type race struct{}

var _ bandit.Policy = race{}

// Probs gives all to the next arm that is open.
func (race) Probs(p []float64, r bandit.Round) {
	last := len(p) - 1
	for i := range last {
		if at := (r.T + i) % last; r.Open[at] {
			p[at] = 1
			return
		}
	}
	p[last] = 1
}

// Update does nothing.
func (race) Update(bandit.Pull, float64) {}

// String names the policy.
func (race) String() string { return "Race()" }
