package evolve

import (
	"context"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// owed is what a journal holds of pulls that a kill or a pause cut short, and what their steps have not asked for
// yet. It was paid for, so it has to be in the accounts before the first new call is admitted. Steps that are
// under way at once ask for it in any order. If it were booked only then, a step that is quick could send a call
// into the room that the answer of a slower one takes, and the run would pass its budget.
type owed struct {
	sync.RWMutex      // read-locked while something is recalled and booked; locked while the rest is booked
	counted      bool // the rest is booked, so what is recalled from now on must not be booked again
}

// awaitLive waits until every decision of earlier incarnations is made again. If replay diverges before that,
// the run is another one, and must not have paid for anything. In a run that is over nothing more is asked for:
// its result is final, and a call without an answer was given up when the run stopped.
func (s *step) awaitLive(ctx context.Context) error {
	select {
	case <-s.journal.Live():
		switch {
		case s.journal.Finished() && !s.claiming:
			return fmt.Errorf("evolve: journal %s tells of a run that is over: %w", s.journal.Path(), llm.ErrDraining)
		case s.journal.Err() != nil:
			return s.journal.Err()
		}
		return s.countOwed()
	case <-ctx.Done():
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
}

// claimed is what the journal says a fresh sample is for.
const claimed = "claim"

// countOwed books what the journal holds and no step has asked for yet. Only the first call does anything: the
// file gets no more of it.
func (s *shared) countOwed() error {
	s.owed.Lock()
	defer s.owed.Unlock()
	if s.owed.counted {
		return nil
	}
	records, err := s.journal.Owed()
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.For == claimed { // of an earlier stop; the run that goes on has not spent them
			continue
		}
		switch r.Kind {
		case journal.Evaluation, journal.Tuning:
			s.bookScored(&r)
		default:
			s.ledger.Book(ledger.Size{Prompt: r.Prompt}, r.Reply.Attempts)
		}
	}
	s.owed.counted = true
	return nil
}

// bookRecalled books a call that comes from the journal. The caller has read-locked owed since before it recalled
// the call.
func (s *shared) bookRecalled(req ledger.Size, attempts []llm.Attempt) {
	if !s.owed.counted {
		s.ledger.Book(req, attempts)
	}
}
