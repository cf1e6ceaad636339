package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	shared "github.com/evoalloc/evoalloc/evolve/internal/ledgers"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// plainRewrite is what made a child that names no operator.
const plainRewrite = "rewrite"

// child takes in a child of a pull. If a run that was cut short makes a child again, there are two records of it. The
// last one tells how the run went on, and takes the row of the first.
func (l *runLog) child(r journal.Record) {
	if r.Pull == nil || r.Child == nil {
		return
	}
	p := l.pulls[*r.Pull]
	if p == nil {
		return
	}
	l.stepOf(p, r.Step)
	r.ID, r.Parents = l.birth(p, r)
	from, known := l.calls.take(callID{r.Key, r.N})
	c := l.row(p, r, from, known)
	address := [3]int{p.step, *r.Child, r.ID}
	at, again := p.rows[address]
	switch {
	case again && l.same(l.rows.at(at), c):
		return // told again as the run was made again: it cost nothing, and took no time
	case again:
		l.rows.replace(at, c)
	default:
		at = l.rows.add(c)
		p.rows[address] = at
		p.first = min(p.first, at)
	}
	a := &l.arms[p.arm]
	a.born[r.ID] = at
	e := l.entry(p, a, c, at, from.spent)
	e.labels = l.labeled(r.Labels)
	p.entries[at] = e
	l.programs.say(c.program, at, from.text)
	if is := scoreOf(c); is.better(a.best) {
		a.best = is
		l.programs.pin(c.program)
	}
}

// birth returns the ID of a child in its search, and those of its parents. The parents are a list of its own.
func (l *runLog) birth(p *pull, r journal.Record) (id int, parents []int) {
	a, search := &l.arms[p.arm], r.Labels["search"]
	parents = make([]int, len(r.Parents))
	for i, parent := range r.Parents {
		parents[i] = a.idOf(search, parent)
	}
	return a.idOf(search, r.ID), parents
}

// stepOf moves a pull on to the step that a child names. A pull of several steps has improved on what the search had
// before each of them. Journals of earlier versions name no step.
func (l *runLog) stepOf(p *pull, step int) {
	if a := &l.arms[p.arm]; step > 0 && step != p.step {
		if p.step > 0 && len(p.rows) > 0 {
			p.before = a.best
		}
		p.step, a.step = step, max(a.step, step)
	}
}

// row returns the row of a child.
func (l *runLog) row(p *pull, r journal.Record, from ended, known bool) row {
	c := row{
		arm: p.arm, pull: *r.Pull, step: p.step, index: *r.Child, id: r.ID, parents: r.Parents,
		operator: l.labels.of(cmp.Or(short(r.Operator), plainRewrite)), model: -1, stand: l.stand(r.Labels),
		program: shortKey(r.Program), time: l.clock.now(), spent: l.calls.spent,
	}
	if from.model != "" {
		c.model = l.labels.of(short(from.model))
	}
	if r.Valid {
		score := r.Score
		c.score, c.sd, c.samples = &score, r.SD, r.Samples
	}
	c.state, c.reason = l.became(r, from, known)
	return c
}

// same reports whether two rows tell the same of a child.
func (l *runLog) same(a, b row) bool {
	return a.id == b.id && a.state == b.state && a.program == b.program && a.operator == b.operator && a.stand == b.stand &&
		scoreOf(a) == scoreOf(b) && slices.Equal(a.parents, b.parents)
}

func scoreOf(c row) scored {
	if c.score == nil {
		return scored{}
	}
	return scored{*c.score, true}
}

// states are the numbers of what journals call the states of children.
var states = map[journal.State]int{
	journal.StateValid: childValid, journal.StateInvalid: childInvalid, journal.StateUnparsed: childUnparsed,
	journal.StateFailed: childFailed, journal.StateRefused: childRefused, journal.StateAbandoned: childAbandoned,
}

// became says what became of a child, and why it has no score. Journals of earlier versions do not tell, and then it
// follows from what else is known of its program.
func (l *runLog) became(r journal.Record, from ended, known bool) (state int, reason string) {
	if state, told := states[r.State]; told {
		return state, cmp.Or(short(r.Reason), from.reason)
	}
	switch why, judged := l.programs.verdict(shortKey(r.Program)); {
	case r.Valid:
		return childValid, ""
	case r.Program != "" && judged:
		return childInvalid, why
	case r.Program != "":
		return childRefused, "it was not evaluated"
	case known && from.kind == journal.Failure:
		return childFailed, from.reason
	}
	return childUnparsed, "no program came of it"
}

// A stand is where a child stands: the labels of its cell and of its island, -1 for none.
type stand struct{ cell, island int }

// stand returns where a child with these labels stands.
func (l *runLog) stand(labels map[string]string) stand {
	return stand{l.place("cell", labels), l.place("island", labels)}
}

// place returns the label of the place of a kind.
func (l *runLog) place(kind string, labels map[string]string) int {
	name := short(labels[kind])
	if name == "" {
		return -1
	}
	label := l.labels.of(kind + " " + name)
	name = strings.TrimPrefix(l.labels.names[label], kind+" ") // which may be that of all others
	l.places.name(label, kind, name, coordinates(name))
	return label
}

// coordinates returns the numbers that a cell's name lists: "3 4", as population.Grid names its own, or "3,4". Of another
// name there are none.
func coordinates(name string) []int {
	at := []int{}
	for _, field := range strings.FieldsFunc(strings.Trim(name, "()[]"), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return []int{}
		}
		at = append(at, n)
	}
	return at
}

// entry returns what ledgers book of a child.
func (l *runLog) entry(p *pull, a *arm, c row, at int, spent cost) entry {
	is := scoreOf(c)
	e := entry{row: at, operator: c.operator, model: c.model, arm: p.arm, spent: spent, valid: is.valid, improved: is.better(p.before)}
	if parent := l.parentOf(a, c); is.valid && parent.valid {
		e.lift, e.lifted = is.score-parent.score, true
	}
	return e
}

// labeled returns the labels that have ledgers.
func (l *runLog) labeled(labels map[string]string) (list []labeled) {
	for _, kind := range shared.Labels() {
		if name := shared.Label(labels[kind]); name != "" {
			list = append(list, labeled{kind, l.labels.of(name)})
		}
	}
	return list
}

// parentOf returns what the program scored that a child was made from first, as far as that is known.
func (l *runLog) parentOf(a *arm, c row) scored {
	if len(c.parents) == 0 {
		return scored{}
	}
	if c.parents[0] == 0 {
		return a.start
	}
	at, ok := a.born[c.parents[0]]
	if !ok {
		return scored{}
	}
	return scoreOf(l.rows.at(at))
}

// settled returns the row from which on children may change: the first of a pull that is not over.
func (l *runLog) settled() int {
	first := l.rows.len()
	for p := range maps.Values(l.pulls) {
		first = min(first, p.first)
	}
	return first
}

// short returns text that somebody else wrote in one line that is fit to be shown, cut to a length that a table and
// the memory can hold.
func short(s string) string { return shared.Name(s) }
