package evolve

import (
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
)

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventDraw       EventKind = "draw"       // an arm was drawn and begins a generation
	EventGeneration EventKind = "generation" // a generation ended
	EventStop       EventKind = "stop"       // the run is over
)

// An Event is something that happened in a run. Fields that a kind does not name are zero.
type Event struct {
	Kind       EventKind      // which fields are set
	Pull       bandit.Pull    // draw, generation
	Generation Generation     // generation
	Reward     float64        // generation; 0 if it is Partial
	Best       eval.Candidate // the best of the run so far
	Calls      int            // model calls that brought an answer so far, in generations that ended
	Stop       Stop           // stop
	Elapsed    time.Duration  // as in Result
}
