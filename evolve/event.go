package evolve

import (
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventDraw       EventKind = "draw"       // an arm was drawn and begins a generation
	EventChild      EventKind = "child"      // a child was taken in by its search, or refused
	EventGeneration EventKind = "generation" // a generation ended
	EventStop       EventKind = "stop"       // the run is over
)

// An Event is something that happened in a run. A comment that names kinds says for which the field is set; it
// is zero for others. One struct with a kind, and not a type for each, so that an observer that logs or counts
// needs no type switch.
type Event struct {
	Kind       EventKind
	Pull       bandit.Pull    // draw, child, generation
	Generation Generation     // generation; with the programs of all children, which a Result does not keep; child: only its Index
	Child      Child          // child; whether it is a Duplicate is known when its generation ends
	Reward     float64        // generation; 0 if it is Partial
	Best       eval.Candidate // the best of the run so far, in generations that ended
	Calls      int            // model calls that brought an answer so far, in generations that ended
	Ledger     journal.Ledger // what is spent and set aside now, and the limits
	Stop       Stop           // stop
	Fresh      *eval.Result   // stop: as in Result
	Elapsed    time.Duration  // as in Result
}
