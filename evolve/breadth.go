package evolve

import (
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/step"
)

// A Breadth decides how many children each step of a search makes. Many at once take the time of one, and those
// after the first better one are wasted, because they are rewrites of a parent that is beaten already. See
// docs/policies.md for which one to use when.
//
// One value may serve many searches at once, so it must be safe for concurrent use. A Breadth should print itself,
// because a journal recognizes a run by it. One that has a method Validate() error is refused before the first step if
// that returns an error. Package breadth has some to choose from.
type Breadth interface {
	// Children returns how many children the next step makes, in 1..MaxN. past holds the steps of the search,
	// oldest first; it must not be changed or kept. The number depends on past and on nothing else, or a run
	// that is resumed would decide otherwise. It is called before each step, of which there may be 100,000, so
	// it must not read all of past each time.
	Children(past []Made) int
}

// Made is what a [Breadth] sees of a step that ended.
type Made struct {
	Children int // that were made, with a score or without; fewer than wished where the budget had no room for more
	Better   int // of them: strictly better than the search's best when the step began
	Kept     int // of them: better or, unless the search is strict, valid, as good, and no copy of the parent
	// Elapsed is how long the step took, in whole milliseconds. In a resumed run it is what the journal holds, and
	// not how long it takes to read the answers again.
	Elapsed time.Duration
}

// A BreadthFunc is a func as a [Breadth]. It prints as its type, so a journal cannot tell two of them apart.
type BreadthFunc func(past []Made) int

// Children returns f(past).
func (f BreadthFunc) Children(past []Made) int { return f(past) }

var _ Breadth = BreadthFunc(nil)

// validBreadth returns what is wrong with the fields of a Breadth that can say so, as those of package breadth
// can. What is wrong with another shows when it is asked.
func validBreadth(b Breadth) error {
	if v, ok := b.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// widthOf asks b how many children the next step makes. An error names b: it panicked, or the number is out of
// range. The number is not mended, because a mistake of that kind would decide what a run costs.
func widthOf(b Breadth, past []Made) (n int, err error) {
	if err := validBreadth(b); err != nil {
		return 0, err
	}
	name := nameOf(b)
	if bad := step.Guard("Breadth "+name, func() { n = b.Children(past) }); bad != nil {
		return 0, bad
	}
	if n < 1 || n > MaxN {
		return 0, fmt.Errorf("evolve: Breadth %s asks for %d children in step %d: need at least 1, and at most %d",
			name, n, len(past)+1, MaxN)
	}
	return n, nil
}
