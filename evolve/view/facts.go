package view

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/llm"
)

// facts returns the summary at the top of the page.
func (l *runLog) facts() []Fact {
	facts := l.whatRan()
	facts = append(facts, l.bestFact(), l.endFact())
	facts = append(facts, l.costFacts()...)
	facts = append(facts,
		Fact{Name: "Evaluations", Value: count(l.run.Evaluated), Note: "made, without those that were remembered"})
	if n := l.run.Tuned; n > 0 {
		facts = append(facts, Fact{Name: "Tune evaluations",
			Value: count(n), Note: "made to choose numbers without a model; they are not among the evaluations"})
	}
	return append(facts, l.timeFact())
}

// mostSettings bounds the settings of a program that are shown.
const mostSettings = 100

// whatRan returns the facts on a run's inputs. The program chooses the header's fields, so only a few common names are
// known here.
func (l *runLog) whatRan() []Fact {
	var facts []Fact
	header := l.run.Header
	for _, f := range []struct{ name, field string }{{"Task", "task"}, {"Search", "search"}, {"Model", "model"}} {
		if value := header[f.field]; value != "" {
			name, more := withHash(value)
			if m := printed.FindStringSubmatch(value); m != nil {
				name, more = m[1], m[2]
			}
			facts = append(facts, Fact{Name: f.name, Value: short(name), Note: short(more)})
		}
	}
	if n := len(l.run.Arms) - l.run.FirstArm; n > 1 {
		facts = append(facts, Fact{Name: "Searches", Value: count(n), Note: "drawn by " + words(l.run.Given["policy"])})
	}
	settings := 0
	for _, f := range fields(header) {
		if f[0] == "task" || f[0] == "search" || f[0] == "model" {
			continue
		}
		if settings++; settings <= mostSettings {
			value, _ := shortHashes(words(f[1]))
			facts = append(facts, Fact{Name: short(f[0]), Value: value, Setting: true})
		}
	}
	if more := settings - mostSettings; more > 0 {
		facts = append(facts, Fact{Name: "Settings", Value: "and " + count(more) + " more", Setting: true})
	}
	if l.run.Runs > 1 {
		facts = append(facts, Fact{Name: "Runs", Value: count(l.run.Runs), Note: "one after the other in one file"})
	}
	return facts
}

// printed matches what a Go value prints of itself, such as Adaptive(second=0, waste=0.15, 1..8, kept).
var printed = regexp.MustCompile(`^([\w./:-]+)\((.*)\)$`)

// words returns a setting as people write it: "Adaptive: second 0, waste 0.15, 1 to 8, kept".
func words(s string) string {
	if m := printed.FindStringSubmatch(s); m != nil {
		s = m[1] + ": " + strings.NewReplacer("=", " ", "..", " to ").Replace(m[2])
	} else if strings.HasPrefix(s, "{") && !strings.Contains(s, `"`) { // a struct, and no JSON
		s = strings.NewReplacer("{", "", "}", "", ":", " ").Replace(s)
	}
	return short(s)
}

// hexadecimal matches a possible hash, of which the tool gives 16 digits.
var hexadecimal = regexp.MustCompile(`\b[0-9a-f]{16,}\b`)

const shownHash = 12 // digits

// shortHashes shortens the hashes in a setting, since few digits suffice to tell settings apart. found reports whether
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

// withHash splits a setting such as "cp, programs and prompt e527…" into its name and the part with hashes.
func withHash(s string) (name, more string) {
	name, more, _ = strings.Cut(s, ", ")
	_, inName := shortHashes(name)
	if short, inMore := shortHashes(more); inMore && !inName {
		return name, short
	}
	name, _ = shortHashes(s)
	return name, ""
}

// bestFact returns the best score, and the gain over the initial program's.
func (l *runLog) bestFact() Fact {
	best, at := l.run.BestScore()
	f := Fact{Name: "Best score", Value: "none yet"}
	if !best.Valid {
		return f
	}
	f.Value = number(best.Value)
	if at < 0 {
		f.Note = "of an initial program: nothing better was found"
		return f
	}
	c := &l.run.Children[at]
	a := &l.run.Arms[c.Arm]
	f.Note = fmt.Sprintf("child %d of %s, round %d of it", c.ID, armName(a), c.Step)
	switch {
	case a.Start.Valid:
		f.Note = fmt.Sprintf("%s more than the initial program's %s; %s", number(best.Value-a.Start.Value),
			number(a.Start.Value), f.Note)
	case a.Start.Known:
		f.Note = "the initial program is invalid; " + f.Note
	}
	return f
}

// status returns the Status of a runState.
func (l *runLog) status() string {
	switch {
	case l.run.CanGoOn():
		return l.run.Stop
	case l.run.Stop != "":
		return "over"
	case l.live:
		return "running"
	}
	return "stopped"
}

// endFact returns why the run stopped.
func (l *runLog) endFact() Fact {
	f := Fact{Name: "Stopped", Value: l.run.Words(limitWords)}
	switch l.status() {
	case "running":
		f.Value = "not yet: it is running"
	case "stopped":
		f.Value, f.Note = "without an end in its journal", "it was killed, or another process works on it"
	case string(evolve.StopError):
		f.Value, f.Note = "an error ended it", l.run.Why+"; it can go on"
	}
	return f
}

// costFacts returns the run's costs, by class.
func (l *runLog) costFacts() []Fact {
	facts := []Fact{{Name: "Calls", Value: count(l.run.Spent.Calls) + " answered", Note: l.callNote()}}
	for _, kind := range []struct {
		name string
		of   func(history.Cost) string
	}{
		{"Tokens", func(c history.Cost) string { return grouped(c.Tokens.All()) }},
		{"FLOPs", func(c history.Cost) string { return number(c.FLOPs) }},
		{"Money", func(c history.Cost) string { return number(c.Money) }},
	} {
		if sum := kind.of(l.run.Spent); sum != "0" {
			facts = append(facts, Fact{Name: kind.name, Value: sum, Note: l.shares(kind.of)})
		}
	}
	return facts
}

// classNames are the words for classes of attempts.
var classNames = map[llm.Class]string{llm.Real: "answered", llm.Stall: "stalled", llm.Errored: "failed",
	llm.Abandoned: "abandoned"}

// callNote returns how calls without an answer ended.
func (l *runLog) callNote() string {
	var parts []string
	for _, class := range llm.Classes() {
		if class != llm.Real {
			parts = append(parts, count(l.run.Calls[class])+" "+classNames[class])
		}
	}
	if l.run.Lost > 0 {
		parts = append(parts, count(l.run.Lost)+" lost in a kill, whose prompts are charged")
	}
	if n := l.run.Flying; n > 0 {
		parts = append(parts, count(n)+" under way")
	}
	return strings.Join(parts, ", ")
}

// shares returns the shares of the classes of attempts in a sum.
func (l *runLog) shares(of func(history.Cost) string) string {
	var parts []string
	for _, class := range llm.Classes() {
		if part := of(l.run.Classes[class]); part != "0" {
			parts = append(parts, part+" "+classNames[class])
		}
	}
	return strings.Join(parts, ", ")
}

// timeFact returns the duration of the run.
func (l *runLog) timeFact() Fact {
	f := Fact{Name: "Time", Value: duration(l.run.Clock.Now())}
	if l.run.Clock.Parts > 1 {
		f.Note = fmt.Sprintf("in %d parts, without %s in which no process ran", l.run.Clock.Parts, duration(l.run.Clock.Idle))
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
