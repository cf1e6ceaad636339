package history

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// Why a run stopped, as evolve.Stop has it.
const (
	stopCanceled = "canceled"
	stopError    = "error"
)

// CanGoOn reports whether the run ended by a process that was stopped, and not by a decision.
func (e Ending) CanGoOn() bool { return e.Stop == stopCanceled || e.Stop == stopError }

// stop takes in that the run is over.
func (b *builder) stop(r record.Record) {
	b.over = true
	b.run.Ending = Ending{Stop: r.Stop, Limit: r.Limit}
	b.note("stop", b.run.Ending.Words(b.limits))
}

// pause takes in that a process ended its part and the run can go on.
func (b *builder) pause(r record.Record) {
	b.run.Ending = Ending{Stop: r.Stop}
	if r.Error != nil {
		b.run.Why = Name(r.Error.Text)
	}
	b.note("pause", b.run.Ending.Words(b.limits))
}

// raise takes in that the run goes on with a larger limit.
func (b *builder) raise(r record.Record) {
	b.run.Given = r.Fingerprint
	b.over = false
	b.again()
	b.run.Ending = Ending{}
	b.note("raise", "went on with a larger limit of "+r.Limit)
}

// mostCommand is how many bytes of a command are kept.
const mostCommand = 4 << 10

// incarnation takes in that another process goes on with the run. A run that is over stays so: to make it again only
// reads it.
func (b *builder) incarnation(r record.Record) {
	b.cut()
	b.run.Clock.part(r.Time)
	if r.Command != "" {
		b.run.Command = printable.Line(Cut(r.Command, mostCommand))
	}
	if b.run.CanGoOn() {
		b.run.Ending = Ending{}
	}
	if b.run.Clock.Parts > 1 {
		b.note("resumed", "another process went on with the run")
	}
	if !b.over {
		b.again()
	}
}

// again takes in that steps which were cut short are made again.
func (b *builder) again() {
	for _, p := range b.pulls {
		for _, row := range p.rows {
			b.run.Children[row].Gone = true
		}
	}
}

// Words says why the run stopped. limits has what is said of a run that a limit of its budget ended, by the limit's
// name.
func (e Ending) Words(limits map[string]string) string {
	switch e.Stop {
	case "budget":
		if e.Limit == "" {
			return "a limit of its budget ended it"
		}
		return cmp.Or(limits[e.Limit], fmt.Sprintf("its limit of %s ended it", Name(e.Limit)))
	case "target":
		return "the target score was reached"
	case "exhausted":
		return "no search had anything left to do"
	case stopCanceled:
		return "it was canceled, and can go on"
	case stopError:
		return strings.TrimSuffix("an error ended it, and it can go on: "+e.Why, ": ")
	}
	return e.Stop
}
