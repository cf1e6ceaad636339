package step

import (
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A Call is a model call that was made for something beside a child.
type Call struct {
	Kind     string
	Child    int // whose session made it; 0 for none
	Attempts []llm.Attempt
}

// An Asked is what one evaluation asks of models, or the model of one call. All who share an evaluation's result share
// this. So its calls count once, for the first outcome that has the evaluation. It is safe for concurrent use. The zero
// value has no call.
type Asked struct {
	ID record.ID // of the evaluation, or the call

	mu     sync.Mutex
	calls  []Call
	told   []record.Asked // the same for the journal, which has to give them back with the result
	failed bool
}

// Fail notes that a call of an evaluation failed by itself.
func (a *Asked) Fail() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = true
}

// Failed reports whether a call of the evaluation failed by itself.
func (a *Asked) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// Add takes in a call that has ended, as the journal names it, with those that its model made.
func (a *Asked) Add(of record.Asked, made []Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, made...)
	a.told = append(a.told, of)
}

// Note takes in a call that the journal names elsewhere, or has already.
func (a *Asked) Note(c Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, c)
}

// Calls returns the calls.
func (a *Asked) Calls() []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// CallsFor returns the calls as made in the session of a child.
func (a *Asked) CallsFor(child int) []Call {
	list := a.Calls()
	for i := range list {
		list[i].Child = child
	}
	return list
}

// Told returns the calls as the journal names them.
func (a *Asked) Told() []record.Asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told)
}

// Any returns a, or nil if it has no call.
func (a *Asked) Any() *Asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.calls) == 0 {
		return nil
	}
	return a
}
