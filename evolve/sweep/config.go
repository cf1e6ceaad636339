package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// Defaults of a [Config].
const (
	defaultCalls = 16
	// DefaultAtOnce bounds the runs under way at once. Each has an open file, and keeps its calls in memory.
	DefaultAtOnce = 128
)

// Config configures how the runs of a [Plan] are made. Nothing in it except the folder affects their results, so it may
// change when a sweep is resumed.
type Config struct {
	Dir   string          // the folder of journals, markers and results; required
	Calls int             // calls in flight at once, of all models; 0 means 16
	Retry llm.RetryConfig // retries of failed calls; the zero value is [llm.Retry]'s default
	// Evaluations bounds the evaluations under way at once, of all tasks; 0 leaves that to the tasks.
	Evaluations int
	// AtOnce bounds the runs under way at once; 0 means DefaultAtOnce. Fewer runs are begun if they keep the limits busy:
	// a run has at most N calls under way, and fewer near the end of each generation, so runs are begun until their
	// breadths add up to eight times the sum of Calls and Evaluations.
	AtOnce int
	// Stalls bounds the attempts of a run that time out or stall, as in [evolve.Budget]. A run with more is left
	// unfinished, and the sweep goes on.
	Stalls int
	Grace  time.Duration // time for calls under way to end after the context has ended, as in [evolve.Config]
	// StopWhen ends the sweep once all these comparisons are decided. Runs under way are finished. nil means that every
	// run is made.
	StopWhen []Comparison
	// Read names result files, of this library or of the BaSE paper's code, whose runs are added to the result and
	// runs.csv. Each counts for those of the plan's budgets that it contains. nil means none.
	Read []string
	// Command is the command that repeats the sweep, for readers of its journals, as in journal.Config.
	Command string
	// Observer is called with every event, by one goroutine at a time. The sweep waits until it returns. nil means none.
	Observer func(Event)
}

func (c Config) withDefaults() Config {
	c.Calls = cmp.Or(c.Calls, defaultCalls)
	c.AtOnce = cmp.Or(c.AtOnce, DefaultAtOnce)
	if c.Observer == nil {
		c.Observer = func(Event) {}
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Dir == "":
		return errors.New("sweep: Config.Dir is empty: need a folder")
	case c.Calls < 1:
		return fmt.Errorf("sweep: Config.Calls is %d: need at least 1, or 0 for the default", c.Calls)
	case c.Evaluations < 0:
		return fmt.Errorf("sweep: Config.Evaluations is %d: need at least 1, or 0 for no limit", c.Evaluations)
	case c.AtOnce < 1:
		return fmt.Errorf("sweep: Config.AtOnce is %d: need at least 1, or 0 for the default", c.AtOnce)
	case c.Grace < 0:
		return fmt.Errorf("sweep: Config.Grace is %v: need 0 or more", c.Grace)
	}
	return nil
}

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventKnown      EventKind = "known"      // a run that an earlier process finished was read
	EventBegin      EventKind = "begin"      // a run begins, or goes on
	EventGeneration EventKind = "generation" // a generation ended; of a run that goes on, also one that its journal has
	EventEnd        EventKind = "end"        // a run is over, and its files are written
	EventPause      EventKind = "pause"      // a run stopped before its end, and can go on
	EventDecided    EventKind = "decided"    // all comparisons are decided, and no more runs begin
)

// An Event is something that happened in a sweep. A comment that names kinds says for which the field is set.
type Event struct {
	Kind  EventKind
	Run   Trial   // all but decided
	Calls int     // known, generation, end, pause: answered calls of the run so far
	Cost  float64 // the same: the cost of the run's calls so far, as far as prices and tokens are known
	Best  float64 // the same: the run's best score so far
	Limit string  // pause: the field of [evolve.Budget] that ended the run; "" if the sweep ended
}
