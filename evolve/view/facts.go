package view

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// facts are the answer that the page begins with.
func (l *runLog) facts() []Fact {
	facts := l.whatRan()
	facts = append(facts, l.bestFact(), l.endFact())
	facts = append(facts, l.costFacts()...)
	facts = append(facts, Fact{Name: "Evaluations", Value: count(l.meters.evaluations), Note: "made, without those that were remembered"})
	if n := l.meters.tuned; n > 0 {
		facts = append(facts, Fact{Name: "Tune evaluations", Value: count(n), Note: "made to choose numbers without a model; they are not among the evaluations"})
	}
	return append(facts, l.timeFact())
}

// mostSettings is how many settings of a program's own are shown.
const mostSettings = 100

// whatRan says what the run was given. The header's fields are the program's own, so their names are not known here
// but for a few that programs share.
func (l *runLog) whatRan() []Fact {
	var facts []Fact
	header := l.config.header
	for _, f := range []struct{ name, field string }{{"Task", "task"}, {"Search", "search"}, {"Model", "model"}} {
		if value := header[f.field]; value != "" {
			name, more := withHash(value)
			facts = append(facts, Fact{Name: f.name, Value: short(name), Note: short(more)})
		}
	}
	if n := len(l.arms) - l.config.first; n > 1 {
		facts = append(facts, Fact{Name: "Searches", Value: count(n), Note: "drawn by " + short(l.config.run["policy"])})
	}
	var other []string
	more := 0
	for _, f := range fields(header) {
		switch {
		case f[0] == "task" || f[0] == "search" || f[0] == "model":
		case len(other) < mostSettings:
			value, _ := shortHashes(short(f[1]))
			other = append(other, short(f[0])+" "+value)
		default:
			more++
		}
	}
	if more > 0 {
		other = append(other, "and "+count(more)+" more")
	}
	if len(other) > 0 {
		facts = append(facts, Fact{Name: "Settings", Value: strings.Join(other, ", ")})
	}
	if l.config.runs > 1 {
		facts = append(facts, Fact{Name: "Runs", Value: count(l.config.runs), Note: "one after the other in one file"})
	}
	return facts
}

// hexadecimal matches what may be a hash: the examples give 16 digits of one.
var hexadecimal = regexp.MustCompile(`\b[0-9a-f]{16,}\b`)

const shownHash = 12 // digits

// shortHashes shortens the hashes of a setting: they tell settings apart, for which few digits do. found reports whether
// there are any. Digits without a letter are a number, and stay.
func shortHashes(s string) (short string, found bool) {
	short = hexadecimal.ReplaceAllStringFunc(s, func(h string) string {
		if !strings.ContainsAny(h, "abcdef") {
			return h
		}
		found = true
		return h[:shownHash]
	})
	return short, found
}

// withHash splits a setting that says by hashes what else decides it, such as "cp, programs and prompt e527…", from them.
func withHash(s string) (name, more string) {
	name, more, _ = strings.Cut(s, ", ")
	_, inName := shortHashes(name)
	if short, inMore := shortHashes(more); inMore && !inName {
		return name, short
	}
	name, _ = shortHashes(s)
	return name, ""
}

// best returns the best score of the run, and the row that has it: -1 for an initial program.
func (l *runLog) best() (best scored, at int) {
	at = -1
	for _, a := range l.arms {
		if a.start.better(best) {
			best = a.start
		}
	}
	if is := l.rows.best(); is.better(best) {
		return is, l.rows.ranking[0]
	}
	return best, at
}

// bestFact says what the best score is, and how much more than the initial program's.
func (l *runLog) bestFact() Fact {
	best, at := l.best()
	f := Fact{Name: "Best score", Value: "none yet"}
	if !best.valid {
		return f
	}
	f.Value = number(best.score)
	if at < 0 {
		f.Note = "of an initial program: nothing better was found"
		return f
	}
	a := l.arms[l.rows.Arm[at]]
	f.Note = fmt.Sprintf("child %d of %s, round %d of it", l.rows.ID[at], a.name, l.rows.Step[at])
	if a.start.valid {
		f.Note = fmt.Sprintf("%s more than the initial program's %s; %s", number(best.score-a.start.score), number(a.start.score), f.Note)
	} else {
		f.Note = "the initial program is invalid; " + f.Note
	}
	return f
}

// endFact says why the run stopped.
func (l *runLog) endFact() Fact {
	f := Fact{Name: "Stopped", Value: l.end.words()}
	switch l.status() {
	case "running":
		f.Value = "not yet: it is running"
	case "stopped":
		f.Value, f.Note = "without an end in its journal", "it was killed, or another process works on it"
	case string(evolve.StopError):
		f.Value, f.Note = "an error ended it", l.end.why+"; it can go on"
	}
	return f
}

// costFacts say what the run cost, by class.
func (l *runLog) costFacts() []Fact {
	c := &l.calls
	facts := []Fact{{Name: "Calls", Value: count(c.spent.calls) + " answered", Note: l.callNote()}}
	for _, kind := range []struct {
		name string
		of   func(cost) string
	}{
		{"Tokens", func(c cost) string { return grouped(c.tokens) }},
		{"FLOPs", func(c cost) string { return number(c.flops) }},
		{"Money", func(c cost) string { return number(c.money) }},
	} {
		if sum := kind.of(c.spent); sum != "0" {
			facts = append(facts, Fact{Name: kind.name, Value: sum, Note: c.shares(kind.of)})
		}
	}
	return facts
}

// classNames say what attempts of a class are, in words.
var classNames = map[llm.Class]string{llm.Real: "answered", llm.Stall: "stalled", llm.Errored: "failed", llm.GivenUp: "given up"}

// callNote says how the calls ended that brought no answer.
func (l *runLog) callNote() string {
	var parts []string
	for _, class := range llm.Classes() {
		if class != llm.Real {
			parts = append(parts, count(l.calls.counts[class])+" "+classNames[class])
		}
	}
	if l.calls.lost > 0 {
		parts = append(parts, count(l.calls.lost)+" lost in a kill, of which nobody knows the cost")
	}
	if n := l.calls.flying(); n > 0 {
		parts = append(parts, count(n)+" under way")
	}
	return strings.Join(parts, ", ")
}

// shares says how a sum is shared by the classes of attempts.
func (c *calls) shares(of func(cost) string) string {
	var parts []string
	for _, class := range llm.Classes() {
		if part := of(c.classes[class]); part != "0" {
			parts = append(parts, part+" "+classNames[class])
		}
	}
	return strings.Join(parts, ", ")
}

// timeFact says how long the run took.
func (l *runLog) timeFact() Fact {
	f := Fact{Name: "Time", Value: duration(l.clock.now())}
	if l.clock.parts > 1 {
		f.Note = fmt.Sprintf("in %d parts, without %s in which no process ran", l.clock.parts, duration(l.clock.idle))
	}
	return f
}

// duration prints milliseconds as a time.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	}
	return cmp.Or(d.String(), "0s")
}

// count prints a number of things.
func count(n int) string { return grouped(int64(n)) }

// grouped prints a whole number with commas between its thousands, as the page's script does.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// number prints a value with six digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
