package step

import (
	"iter"
	"maps"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// A Queue decides in which order the children of a step are begun and taken in. It has those to be begun, those under
// way, and those that have ended and wait to be taken in. Its window bounds those under way or waiting. One goroutine
// at a time uses it.
//
// A child that has ended and waits for its turn keeps its slot in the window. Otherwise what a brief knows would
// depend on how many children had ended by then. The result of taking children by index would depend on which child
// is faster.
type Queue[T any] struct {
	n, window int
	byIndex   bool
	repeat    []int // indices of those to be taken in next, as the journal has them, and record.Beyond
	next      int   // index of the child to be begun next
	running   int   // children under way
	ended     map[int]T
	turn      int // index of the child to be taken in next, by index
}

// NewQueue returns the Queue of n children, with so many under way at once, all if window is 0. By index they are
// taken in so that nothing depends on which ends first. Otherwise they are taken in as they end, or as repeat says,
// which is the order that a journal holds.
func NewQueue[T any](n, window int, byIndex bool, repeat []int) *Queue[T] {
	if window == 0 {
		window = n
	}
	return &Queue[T]{n: n, window: window, byIndex: byIndex, repeat: repeat, ended: make(map[int]T)}
}

// Window returns how many children are under way at once, but for those beyond it.
func (q *Queue[T]) Window() int { return min(q.window, q.n) }

// Begun returns how many children were begun, and whether they are all.
func (q *Queue[T]) Begun() (n int, all bool) { return q.next, q.next >= q.n }

// Running returns how many children are under way.
func (q *Queue[T]) Running() int { return q.running }

// Room reports whether the window has room for one more child. If it has none, beyond says that one is begun all the
// same, because so many within the window pause before a retry, and decided that the journal does not have that yet.
// A window never doubles by that: where an endpoint turns every call away, more of them do not help.
//
// By index none is begun beyond the window. What a brief knows would depend on which calls were turned away.
func (q *Queue[T]) Room(paused int) (room, beyond, decided bool) {
	under := q.running + len(q.ended)
	switch {
	case under < q.window:
		return true, false, false
	case len(q.repeat) > 0:
		if beyond = q.repeat[0] == record.Beyond; beyond {
			q.repeat = q.repeat[1:]
		}
		return false, beyond, false
	}
	beyond = !q.byIndex && under < q.window+min(paused, q.window-1)
	return false, beyond, beyond
}

// Begin returns the index of the next child, which counts as begun and not as under way.
func (q *Queue[T]) Begin() int {
	q.next++
	return q.next - 1
}

// Run counts a child that is under way.
func (q *Queue[T]) Run() { q.running++ }

// End takes a child that was under way out of those, and lets it wait.
func (q *Queue[T]) End(i int, child T) {
	q.running--
	q.ended[i] = child
}

// Next takes out the child to be taken in next, if it has ended, and reports whether the journal has that already.
//
// When children taken as they end are replayed, it is the one that the journal has next. What a search makes of its
// children depends on the order, and answers that are read from a file come in any order.
func (q *Queue[T]) Next() (child T, known, ok bool) {
	i := q.turn
	switch {
	case q.byIndex:
	case len(q.repeat) > 0:
		i, known = q.repeat[0], true
	case len(q.ended) > 0:
		// Several wait only where the journal's order ends. Any of them will do, as the order is recorded.
		i = slices.Min(slices.Collect(maps.Keys(q.ended)))
	}
	if child, ok = q.ended[i]; !ok {
		return child, false, false
	}
	if known {
		q.repeat = q.repeat[1:]
	}
	delete(q.ended, i)
	q.turn++
	return child, known, true
}

// Missing returns the child that the journal has next, which was not even begun, where nothing is under way. The
// journal then tells of another search. It reports false if the journal names none.
func (q *Queue[T]) Missing() (child int, ok bool) {
	if len(q.repeat) == 0 {
		return 0, false
	}
	return q.repeat[0], true
}

// Rest takes out, by index, the children that still wait for one that was never sent.
func (q *Queue[T]) Rest() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, i := range slices.Sorted(maps.Keys(q.ended)) {
			child := q.ended[i]
			delete(q.ended, i)
			if q.turn++; !yield(child) {
				return
			}
		}
	}
}
