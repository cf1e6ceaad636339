package evolve

import (
	"errors"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// mostUnheard is how many attempts may fail while no call of a run was ever answered: two calls with the retries that
// [llm.Retry] makes by default. Attempts count once their call has ended, so an endpoint has the time of a call's retries
// to come up, and an LLM that retries for longer gives it longer.
const mostUnheard = 2 * (1 + llm.DefaultRetries)

// An unheard counts the attempts that failed of a run of which no call was ever answered. Such a run most likely has the
// wrong address or a broken endpoint, and to go on only delays saying so. After the first answer, also one that the
// journal recalls, it counts nothing. It is safe for concurrent use.
type unheard struct {
	mu       sync.Mutex
	answered bool
	failed   int // attempts of calls that ended
	begun    int // calls
	open     int // calls under way
	until    int // calls that were begun when too many attempts had failed; 0 before that
	waiting  int // of these, those under way
}

// begin begins a call. The func that it returns ends it, and returns its error, or a [*unheardError] if the run ends
// because nothing was answered.
//
// When too many attempts have failed, the calls under way decide: failures come fast, and a good answer may take minutes.
//
// An endpoint that says when to come back (Retry-After) is busy and not broken, so what it refuses counts nothing. Nor do
// attempts that timed out: Budget.Stalls limits those. The failure of a call within another call, or within an
// evaluation, is for these to judge.
func (u *unheard) begin(p purpose) (end func(llm.Reply, error) error) {
	if p.within != nil {
		return func(reply llm.Reply, err error) error {
			u.hear(reply)
			return err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.begun++
	u.open++
	number := u.begun
	return func(reply llm.Reply, err error) error {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.end(number, reply, err)
	}
}

// hear takes in that a call was answered, if it was.
func (u *unheard) hear(reply llm.Reply) {
	if answered(reply.Attempts) {
		u.mu.Lock()
		u.answered = true
		u.mu.Unlock()
	}
}

// end takes in that a call ended with reply and err, and returns the error of the call. u.mu is held.
func (u *unheard) end(number int, reply llm.Reply, err error) error {
	u.open--
	if number <= u.until {
		u.waiting--
	}
	u.answered = u.answered || answered(reply.Attempts)
	if _, refused := Refused(err); u.answered || refused || busy(err) || llm.ClassOf(reply.Attempts) != llm.Errored {
		return err
	}
	for _, a := range reply.Attempts {
		if a.Status == llm.Failed {
			u.failed++
		}
	}
	if u.failed >= mostUnheard && u.until == 0 {
		u.until, u.waiting = u.begun, u.open
	}
	if u.failed < mostUnheard || u.waiting > 0 {
		return err
	}
	return &unheardError{u.failed, err}
}

// busy reports whether the endpoint said when to come back.
func busy(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.RetryAfter > 0
}

// An unheardError ends a run of which no model call was ever answered.
type unheardError struct {
	failed int
	last   error
}

func (e *unheardError) Error() string {
	s := fmt.Sprintf("evolve: no model call was ever answered, and %d attempts failed, the last with: %v", e.failed, e.last)
	if remedy := llm.Remedy(e.last); remedy != "" {
		s += "; " + remedy
	}
	return s
}

func (e *unheardError) Unwrap() error { return e.last }
