package view

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// An ending is how a run ended, as far as it has.
type ending struct {
	stop  evolve.Stop // "" while it goes on
	limit string
	why   string // the error
}

// stop takes in that the run is over.
func (l *runLog) stop(r journal.Record) {
	l.end = ending{stop: evolve.Stop(r.Stop), limit: r.Limit}
	l.notes.add(l.clock.now(), "stop", l.end.words())
}

// pause takes in that a process ended its part and the run can go on.
func (l *runLog) pause(r journal.Record) {
	l.end = ending{stop: evolve.Stop(r.Stop)}
	if r.Error != nil {
		l.end.why = short(r.Error.Text)
	}
	l.notes.add(l.clock.now(), "pause", l.end.words())
}

// incarnation takes in that another process goes on with the run. A run that is over stays so: to make it again only
// reads it.
func (l *runLog) incarnation(r journal.Record) {
	l.cut()
	l.clock.part(r.Time)
	if r.Command != "" {
		l.config.repeat = printable.Line(cutText(r.Command, mostSaid))
	}
	if l.end.stop == evolve.StopCanceled || l.end.stop == evolve.StopError {
		l.end = ending{}
	}
	if l.clock.parts > 1 {
		l.notes.add(l.clock.now(), "resumed", "another process went on with the run")
	}
}

// status returns the Status of a runState.
func (l *runLog) status() string {
	switch {
	case l.end.stop == evolve.StopCanceled || l.end.stop == evolve.StopError:
		return string(l.end.stop)
	case l.end.stop != "":
		return "over"
	case l.live:
		return "running"
	}
	return "stopped"
}

// words says why a run stopped.
func (e ending) words() string {
	switch e.stop {
	case evolve.StopBudget:
		if words := limitWords[e.limit]; words != "" {
			return words
		}
		return fmt.Sprintf("its limit of %s was used up", short(e.limit))
	case evolve.StopTarget:
		return "the target score was reached"
	case evolve.StopExhausted:
		return "no search had anything left to do"
	case evolve.StopCanceled:
		return "it was canceled, and can go on"
	case evolve.StopError:
		return "an error ended it, and it can go on: " + e.why
	}
	return string(e.stop)
}

// limitWords say which limit of the budget ended a run.
var limitWords = func() map[string]string {
	words := map[string]string{}
	for _, l := range evolve.Limits() {
		words[l.Name] = l.Ended
	}
	return words
}()
