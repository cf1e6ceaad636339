package evolve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/evolve/internal/memory"
	"github.com/evoalloc/evoalloc/llm"
)

// An outcome is what a pull brought, as its step ended.
type outcome struct {
	pull   pull
	gen    Generation
	err    error
	scored []memory.Scoring // evaluations that brought a result
	took   []time.Duration  // how long each Breed took
	told   map[address]bool // children that readers of the journal and the observer were told of
	judged int              // calls that were answered while programs waited for their evaluation
}

// close corrects what an arm returned by what happened in its step. Calls that the arm left out are added to the
// asides. A limit that bound is named. An error that the arm kept to itself ends the run.
//
// A step that was cut short must not be reported as whole. Its reward would stand in the journal. Made again
// without the interruption, the step would ask for more than the file holds, and what was paid for would be
// stuck behind ErrDiverged.
func (s *step) close(gen Generation, err error) (Generation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gen = withCalls(gen, s.made)
	var refused *fault.Refused
	if errors.As(err, &refused) { // that the budget has no room limits the step, and is not an error
		gen.Limit, err = cmp.Or(gen.Limit, refused.Limit), nil
	}
	gen.Limit = cmp.Or(gen.Limit, s.limit)
	err = s.ended(err)
	// An arm that looks at its context may have stopped early without asking for anything more. Whether it did
	// cannot be known. If the step was whole all the same, to make it again costs nothing, as all of its answers
	// are in the journal.
	if err == nil && (s.cut || s.over() && !s.past.Ended) {
		err = errCut
	}
	gen.Partial = gen.Partial || err != nil
	return gen, err
}

// into copies what happened in the step into its outcome. A goroutine that the arm left behind may go on with the step.
func (s *step) into(o *outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.scored, o.took, o.told, o.judged = s.scored, s.took, maps.Clone(s.told), s.judged
}

// started returns what an arm asked for in its Start, and the limit that left no room for more. Nothing of it is
// reported, so it matters only how it ended and not whether it is whole.
func (s *step) started(err error) (Generation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spent := Generation{Asides: s.made, Limit: s.limit}
	var refused *fault.Refused
	if errors.As(err, &refused) {
		spent.Limit, err = cmp.Or(spent.Limit, refused.Limit), nil
	}
	return spent, s.ended(err)
}

// ended returns the error with which the step ended: its arm's, or one that the arm kept to itself. That the
// journal failed counts before what the arm made of it, which may look like the end of the run. So does a fault before
// what was refused because of it.
func (s *step) ended(err error) error {
	var doomed *fault.Doomed
	if err == nil || fault.OfJournal(s.fatal) || errors.As(err, &doomed) {
		return cmp.Or(s.fatal, err)
	}
	return err
}

// errCut is the error of a step in which something was given up although its arm returned none.
var errCut = fmt.Errorf("evolve: the step was cut short: %w", llm.ErrDraining)

// withCalls returns gen with every call that was made. A call is in gen already if a child has exactly its
// attempts. All others become asides. If a child holds their attempts among its own, they are taken out of the
// child, so that nothing counts twice.
//
// Calls are matched by the contents of their attempts. The design that was rejected is a number for each call,
// which the arm hands on. An arm builds its children itself, and could forget the number just as it forgets a
// call.
func withCalls(gen Generation, made []Call) Generation {
	told := newTally(&gen)
	beside := slices.DeleteFunc(slices.Clone(made), func(c Call) bool { return c.Kind == KindChild && told.child(c.Attempts) })
	// Which of two calls that are made at once ends first is chance, and another one in a resumed run, whose result
	// has to be the same.
	slices.SortStableFunc(beside, compareCalls)
	for _, c := range beside {
		if !told.aside(c) {
			gen.Asides = append(gen.Asides, c)
			told.strip(c.Attempts)
		}
	}
	return gen
}

// compareCalls orders calls by what they were for and what they cost, but for the time that they took.
func compareCalls(a, b Call) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), slices.CompareFunc(a.Attempts, b.Attempts, compareAttempts))
}

func compareAttempts(a, b llm.Attempt) int {
	used := func(a llm.Attempt) llm.Usage {
		if a.Usage == nil {
			return llm.Usage{}
		}
		return *a.Usage
	}
	x, y := used(a), used(b)
	return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Endpoint, b.Endpoint),
		cmp.Compare(x.PromptTokens, y.PromptTokens), cmp.Compare(x.CompletionTokens, y.CompletionTokens), cmp.Compare(x.CachedTokens, y.CachedTokens),
		cmp.Compare(a.Streamed, b.Streamed), cmp.Compare(a.FinishReason, b.FinishReason), cmp.Compare(a.Err, b.Err))
}

// A tally finds the calls of a step in the generation that its arm returned. Two calls whose attempts are equal
// are interchangeable: whichever is matched, the sums are the same.
type tally struct {
	gen      *Generation
	children map[mark][]int // of children not matched yet, by their attempts
	asides   map[mark][]int
}

// A mark tells most calls apart quickly: by their number of attempts, and the time and status of the last. Calls
// are compared in full only if their marks are equal. To compare each call with each child in full would take
// time that grows with the square of their number.
type mark struct {
	n       int
	latency int64
	status  llm.Status
}

func markOf(attempts []llm.Attempt) mark {
	if len(attempts) == 0 {
		return mark{}
	}
	last := attempts[len(attempts)-1]
	return mark{len(attempts), int64(last.Latency), last.Status}
}

func newTally(gen *Generation) *tally {
	t := &tally{gen: gen, children: make(map[mark][]int), asides: make(map[mark][]int)}
	for i, c := range gen.Children {
		m := markOf(c.Attempts)
		t.children[m] = append(t.children[m], i)
	}
	for i, c := range gen.Asides {
		m := markOf(c.Attempts)
		t.asides[m] = append(t.asides[m], i)
	}
	return t
}

// child reports whether a child has these attempts that no call was matched with yet, and matches it.
func (t *tally) child(attempts []llm.Attempt) bool {
	return match(t.children, attempts, func(i int) []llm.Attempt { return t.gen.Children[i].Attempts })
}

// aside reports whether the call is among the asides that the arm returned, under the same kind, and matches it.
func (t *tally) aside(c Call) bool {
	return match(t.asides, c.Attempts, func(i int) []llm.Attempt {
		if t.gen.Asides[i].Kind != c.Kind {
			return nil
		}
		return t.gen.Asides[i].Attempts
	})
}

// match takes the first entry with these attempts out of unmatched, and reports whether there is one.
func match(unmatched map[mark][]int, attempts []llm.Attempt, of func(int) []llm.Attempt) bool {
	m := markOf(attempts)
	for at, i := range unmatched[m] {
		if reflect.DeepEqual(of(i), attempts) {
			unmatched[m] = slices.Delete(unmatched[m], at, at+1)
			return true
		}
	}
	return false
}

// strip removes the attempts of an aside from a child that no call was matched with and that has them among
// others. An arm may append the attempts of a judge's call to those of the child that was judged.
func (t *tally) strip(attempts []llm.Attempt) {
	for _, open := range t.children {
		for _, i := range open {
			c := &t.gen.Children[i]
			if at := indexOf(c.Attempts, attempts); at >= 0 {
				c.Attempts = slices.Delete(slices.Clone(c.Attempts), at, at+len(attempts))
				return
			}
		}
	}
}

// indexOf returns the index of part in whole, or -1.
func indexOf(whole, part []llm.Attempt) int {
	for at := 0; at+len(part) <= len(whole); at++ {
		if reflect.DeepEqual(whole[at:at+len(part)], part) {
			return at
		}
	}
	return -1
}
