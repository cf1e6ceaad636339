package evolve

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/evoalloc/evoalloc/llm"
)

// missingCalls returns the calls among made that an arm left out, in an order that does not depend on which ended
// first. A call of the kind [KindChild] is there if a child has exactly its attempts, any other if it is among the
// asides. If a child holds the attempts of a missing call among its own, they are taken out of children, so that
// nothing counts twice.
//
// Calls are matched by the contents of their attempts. The design that was rejected is a number for each call, which
// the arm hands on. An arm builds its children itself, and could forget the number just as it forgets a call.
func missingCalls(children [][]llm.Attempt, asides, made []Call) (missing []Call) {
	l := newReturnedCalls(children, asides)
	beside := slices.DeleteFunc(slices.Clone(made), func(c Call) bool { return c.Kind == KindChild && l.child(c.Attempts) })
	// Which of two calls that are made at once ends first is chance, and another one in a resumed run, whose result
	// has to be the same.
	slices.SortStableFunc(beside, compareCalls)
	for _, c := range beside {
		if !l.aside(c) {
			missing = append(missing, c)
			l.strip(c.Attempts)
		}
	}
	return missing
}

// compareCalls orders calls by the child and by what they were for and what they cost, but for the time that they took.
func compareCalls(a, b Call) int {
	return cmp.Or(cmp.Compare(a.Child, b.Child), cmp.Compare(a.Kind, b.Kind),
		slices.CompareFunc(a.Attempts, b.Attempts, compareAttempts))
}

func compareAttempts(a, b llm.Attempt) int {
	used := func(a llm.Attempt) llm.Usage {
		if a.Usage == nil {
			return llm.Usage{}
		}
		return *a.Usage
	}
	x, y := used(a), used(b)
	return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(x.PromptTokens, y.PromptTokens),
		cmp.Compare(x.CompletionTokens, y.CompletionTokens), cmp.Compare(x.CachedTokens, y.CachedTokens),
		cmp.Compare(a.Streamed, b.Streamed), cmp.Compare(a.FinishReason, b.FinishReason), cmp.Compare(a.Err, b.Err))
}

// returnedCalls are the calls of a step that its arm returned. Two calls whose attempts are equal are interchangeable:
// whichever is matched, the sums are the same.
type returnedCalls struct {
	children  [][]llm.Attempt
	asides    []Call
	unmatched map[callMark][]int // of children not matched yet, by their attempts
	beside    map[callMark][]int // of asides
}

// A callMark tells most calls apart quickly: by their number of attempts, and the time and status of the last. Calls
// are compared in full only if their marks are equal. To compare each call with each child in full would take
// time that grows with the square of their number.
type callMark struct {
	n       int
	latency int64
	status  llm.Status
}

func callMarkOf(attempts []llm.Attempt) callMark {
	if len(attempts) == 0 {
		return callMark{}
	}
	last := attempts[len(attempts)-1]
	return callMark{len(attempts), int64(last.Latency), last.Status}
}

func newReturnedCalls(children [][]llm.Attempt, asides []Call) *returnedCalls {
	l := &returnedCalls{children, asides, make(map[callMark][]int), make(map[callMark][]int)}
	for i, attempts := range children {
		m := callMarkOf(attempts)
		l.unmatched[m] = append(l.unmatched[m], i)
	}
	for i, c := range asides {
		m := callMarkOf(c.Attempts)
		l.beside[m] = append(l.beside[m], i)
	}
	return l
}

// child reports whether a child has these attempts that no call was matched with yet, and matches it.
func (l *returnedCalls) child(attempts []llm.Attempt) bool {
	return takeCall(l.unmatched, attempts, func(i int) []llm.Attempt { return l.children[i] })
}

// aside reports whether the call is among the asides, under the same kind and for the same child, and matches it.
func (l *returnedCalls) aside(c Call) bool {
	return takeCall(l.beside, c.Attempts, func(i int) []llm.Attempt {
		if l.asides[i].Kind != c.Kind || l.asides[i].Child != c.Child {
			return nil
		}
		return l.asides[i].Attempts
	})
}

// takeCall takes the first entry with these attempts out of unmatched, and reports whether there is one.
func takeCall(unmatched map[callMark][]int, attempts []llm.Attempt, of func(int) []llm.Attempt) bool {
	m := callMarkOf(attempts)
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
func (l *returnedCalls) strip(attempts []llm.Attempt) {
	for _, open := range l.unmatched {
		for _, i := range open {
			if at := indexOfAttempts(l.children[i], attempts); at >= 0 {
				l.children[i] = slices.Delete(slices.Clone(l.children[i]), at, at+len(attempts))
				return
			}
		}
	}
}

// indexOfAttempts returns the index of part in whole, or -1.
func indexOfAttempts(whole, part []llm.Attempt) int {
	for at := 0; at+len(part) <= len(whole); at++ {
		if reflect.DeepEqual(whole[at:at+len(part)], part) {
			return at
		}
	}
	return -1
}
