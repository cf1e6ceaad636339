// Package match finds the calls that were made in a step among those that its arm returned.
//
// Calls are matched by the contents of their attempts. The design that was rejected is a number for each call, which
// the arm hands on. An arm builds its children itself, and could forget the number just as it forgets a call.
package match

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/evoalloc/evoalloc/llm"
)

// A Call is what a call was for, and its attempts.
type Call struct {
	Kind     string
	Child    int // that it was made for; 0 for none
	Attempts []llm.Attempt
}

// Missing returns the calls among made that an arm left out, in an order that does not depend on which ended first. A
// call of the kind child is there if a child has exactly its attempts, any other if it is among the asides. If a
// child holds the attempts of a missing call among its own, they are taken out of children, so that nothing counts
// twice.
func Missing(children [][]llm.Attempt, asides, made []Call, child string) (missing []Call) {
	l := newListed(children, asides)
	beside := slices.DeleteFunc(slices.Clone(made), func(c Call) bool { return c.Kind == child && l.child(c.Attempts) })
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

// listed are the calls of a step that its arm returned. Two calls whose attempts are equal are interchangeable:
// whichever is matched, the sums are the same.
type listed struct {
	children  [][]llm.Attempt
	asides    []Call
	unmatched map[mark][]int // of children not matched yet, by their attempts
	beside    map[mark][]int // of asides
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

func newListed(children [][]llm.Attempt, asides []Call) *listed {
	l := &listed{children, asides, make(map[mark][]int), make(map[mark][]int)}
	for i, attempts := range children {
		m := markOf(attempts)
		l.unmatched[m] = append(l.unmatched[m], i)
	}
	for i, c := range asides {
		m := markOf(c.Attempts)
		l.beside[m] = append(l.beside[m], i)
	}
	return l
}

// child reports whether a child has these attempts that no call was matched with yet, and matches it.
func (l *listed) child(attempts []llm.Attempt) bool {
	return take(l.unmatched, attempts, func(i int) []llm.Attempt { return l.children[i] })
}

// aside reports whether the call is among the asides, under the same kind and for the same child, and matches it.
func (l *listed) aside(c Call) bool {
	return take(l.beside, c.Attempts, func(i int) []llm.Attempt {
		if l.asides[i].Kind != c.Kind || l.asides[i].Child != c.Child {
			return nil
		}
		return l.asides[i].Attempts
	})
}

// take takes the first entry with these attempts out of unmatched, and reports whether there is one.
func take(unmatched map[mark][]int, attempts []llm.Attempt, of func(int) []llm.Attempt) bool {
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
func (l *listed) strip(attempts []llm.Attempt) {
	for _, open := range l.unmatched {
		for _, i := range open {
			if at := indexOf(l.children[i], attempts); at >= 0 {
				l.children[i] = slices.Delete(slices.Clone(l.children[i]), at, at+len(attempts))
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
