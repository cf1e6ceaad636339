package step

import (
	"context"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// arrears are what a journal holds of pulls that a kill or a pause cut short, and what their steps have not asked for
// yet. It was paid for, so it has to be in the accounts before the first new call is admitted. Steps that are
// under way at once ask for it in any order. If it were booked only then, a step that is quick could send a call
// into the room that the answer of a slower one takes, and the run would pass its budget.
type arrears struct {
	sync.RWMutex      // read-locked while something is recalled and booked; locked while the rest is booked
	counted      bool // the rest is booked, so what is recalled from now on must not be booked again
}

// awaitLive waits until every decision of earlier incarnations is made again. If replay diverges before that,
// the run is another one, and must not have paid for anything. In a run that is over nothing more is asked for:
// its result is final, and a call without an answer was abandoned when the run stopped.
func (s *Step) awaitLive(ctx context.Context) error {
	select {
	case <-s.Journal.Live():
		switch {
		case s.Journal.Finished() && !s.Claiming:
			return fmt.Errorf("evolve: journal %s holds a run that is over: %w", s.Journal.Path(), llm.ErrDraining)
		case s.Journal.Err() != nil:
			return s.Journal.Err()
		}
		return s.bookArrears()
	case <-ctx.Done():
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
}

// freshSample is what the journal says a fresh sample is for.
const freshSample = "claim"

// bookArrears books what the journal holds and no step has asked for yet. Only the first call does anything: the
// file gets no more of it.
func (r *Run) bookArrears() error {
	r.arrears.Lock()
	defer r.arrears.Unlock()
	if r.arrears.counted {
		return nil
	}
	records, err := r.Journal.Owed()
	if err != nil {
		return err
	}
	for _, paid := range records {
		if paid.For == freshSample { // of an earlier stop; the run that goes on has not spent them
			continue
		}
		switch paid.Kind {
		case record.Evaluation, record.Tuning:
			r.bookScored(&paid)
		default:
			r.Ledger.Book(Size{Prompt: paid.Prompt}, paid.Reply.Attempts)
		}
	}
	r.arrears.counted = true
	return nil
}

// bookRecalled books a call that comes from the journal. The caller has read-locked arrears since before it recalled
// the call.
func (r *Run) bookRecalled(req Size, attempts []llm.Attempt) {
	if !r.arrears.counted {
		r.Ledger.Book(req, attempts)
	}
}
