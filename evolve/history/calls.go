package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A callID names a call in the journal.
type callID struct {
	key string
	n   int
}

// A call is one that has begun and not ended.
type call struct {
	kind  string      // what it is for; "" for a child
	pull  int         // that sends it; -1 if that is not known, or before the first
	began int         // attempts that were sent and whose end is not known
	lost  llm.Attempt // what stands for one of them after a kill
	tried []llm.Attempt
}

// An ended call waits for the child that is made of it.
type ended struct {
	kind   record.Kind
	model  string
	cost   Cost
	text   string // of the reply
	reason string // what ended the call without a reply
}

// calls follow the calls of a run from their first attempt to their end.
type calls struct {
	open  map[callID]*call
	done  map[callID]ended // calls for children, and sessions, that no child's record has named yet
	order []callID         // of done, oldest first
	aside map[callID]ended // calls beside those, that no session's record has named yet
	later []callID         // of aside, oldest first
}

// mostDone bounds the calls whose child has not come yet: as many as a generation has at most, since the children of
// one wait for the first of them. mostTexts bounds the replies of those, the newest, and mostAside the calls whose
// session has not ended yet.
const (
	mostDone  = 100_000
	mostTexts = 512
	mostAside = 1 << 13
)

func newCalls() calls {
	return calls{open: map[callID]*call{}, done: map[callID]ended{}, aside: map[callID]ended{}}
}

// pullOf returns the pull that a record names, -1 if it names none.
func pullOf(r record.Record) int {
	if r.Pull == nil {
		return -1
	}
	return *r.Pull
}

// call takes in a record about a call.
func (b *builder) call(r record.Record) {
	id := callID{r.Key, r.N}
	c := &b.calls
	open := c.open[id]
	if open == nil && r.Kind != record.Refusal {
		open = &call{kind: r.For, pull: pullOf(r)}
		c.open[id] = open
	}
	switch r.Kind {
	case record.Begin:
		open.began, open.lost = open.began+1, r.Lost()
	case record.Tried:
		if r.Reply != nil {
			open.began -= min(open.began, 1)
			open.tried = append(open.tried, r.Reply.Attempts...)
		}
	case record.Refusal:
		why := "the budget's " + r.Limit + " had no room"
		b.note("refused", why)
		c.keep(id, ended{kind: r.Kind, reason: Name(why)})
	default:
		delete(c.open, id)
		b.endCall(id, open, r)
	}
}

// endCall takes in how a call ended. Its record has all of its attempts, those too that were noted one by one.
func (b *builder) endCall(id callID, was *call, r record.Record) {
	if r.Reply == nil {
		return
	}
	why := ""
	if r.Error != nil {
		why = r.Error.Text
	}
	e := b.end(r.Kind, r.Reply.Attempts, was.pull, why)
	if was.kind != "" {
		keep(b.calls.aside, &b.calls.later, id, e, mostAside)
		return
	}
	if b.reply != nil {
		e.text = r.Reply.Text
	}
	b.calls.keep(id, e)
}

// session takes in how a session ended. It stands for the call that its child was made of: with what all of its calls
// cost, and its transcript in place of a reply.
func (b *builder) session(r record.Record) {
	of := ended{kind: r.Kind, text: transcript(r)}
	if r.Error != nil {
		of.reason = Name(r.Error.Text)
	}
	for _, asked := range r.Asked {
		id := callID{asked.Key, asked.N}
		delete(b.calls.done, id) // one that was refused
		e, ok := b.calls.aside[id]
		if !ok {
			continue
		}
		delete(b.calls.aside, id)
		of.model, of.cost = cmp.Or(e.model, of.model), of.cost.Plus(e.cost)
	}
	b.calls.keep(callID{r.Key, r.N}, of)
}

// Transcript is how the text begins that stands for the reply of a child that a session made.
const Transcript = "A session of "

// transcript returns what is shown of a session in place of a reply.
func transcript(r record.Record) string {
	if len(r.Notes) == 0 {
		return ""
	}
	tries := 0
	for _, s := range r.Scored {
		if s.Tuned {
			tries++
		}
	}
	head := fmt.Sprintf(Transcript+"%d calls and %d tries:", len(r.Asked), tries)
	return head + "\n\n" + strings.Join(r.Notes, "\n")
}

// end takes in the attempts of a call that has ended.
func (b *builder) end(kind record.Kind, attempts []llm.Attempt, pull int, why string) ended {
	e := ended{kind: kind, model: ModelOf(attempts), cost: b.charge(attempts, pull), reason: Name(why)}
	switch kind {
	case record.Abandoned:
		b.note("abandoned", "a call was abandoned: "+e.reason)
	case record.Failure:
		kind := "error"
		if llm.ClassOf(attempts) == llm.Stall {
			kind = "stall"
		}
		b.note(kind, e.reason)
	}
	return e
}

// charge adds attempts of a call that has ended to the sums.
func (b *builder) charge(attempts []llm.Attempt, pull int) Cost {
	run := b.run
	sum := run.add(Prices(run.Models), attempts)
	for _, a := range attempts {
		b.asked(a)
	}
	if p := b.pulls[pull]; p != nil {
		t := &run.Arms[p.arm].settled
		t.Cost = t.Cost.Plus(sum)
		r := &run.Rounds[p.round]
		r.Cost, r.Answered = r.Cost.Plus(sum), r.Answered+sum.Calls
	} else {
		run.Outside = run.Outside.Plus(sum)
	}
	return sum
}

// keep remembers a call until its child comes, and its text while it is among the newest.
func (c *calls) keep(id callID, e ended) {
	keep(c.done, &c.order, id, e, mostDone)
	if i := len(c.order) - 1 - mostTexts; i >= 0 {
		if old, waits := c.done[c.order[i]]; waits && old.text != "" {
			old.text = ""
			c.done[c.order[i]] = old
		}
	}
}

// keep adds an entry to a map that holds so many, and forgets the oldest ones.
func keep(in map[callID]ended, order *[]callID, id callID, e ended, most int) {
	if _, again := in[id]; !again {
		*order = append(*order, id)
	}
	in[id] = e
	for len(*order) > most {
		delete(in, (*order)[0])
		*order = (*order)[1:]
	}
}

// take returns the call that a child was made of, and forgets it.
func (c *calls) take(id callID) (ended, bool) {
	e, ok := c.done[id]
	if ok && e.kind != record.Abandoned { // which is made again
		delete(c.done, id)
	}
	return e, ok
}

// cut ends all calls that are under way because their process is gone. What ended of them was paid for, and what did
// not is lost: it may have been paid for, so its prompt is charged.
func (b *builder) cut() {
	// In one order, so that a file gives the same sums each time: they are of floating-point numbers.
	ids := slices.SortedFunc(maps.Keys(b.calls.open),
		func(x, y callID) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.n, y.n)) })
	for _, id := range ids {
		open := b.calls.open[id]
		if len(open.tried) > 0 {
			b.charge(open.tried, open.pull)
		}
		for range open.began {
			cost := Prices(b.run.Models).attempt(open.lost)
			b.run.Lost++
			b.run.Spent = b.run.Spent.Plus(cost)
			b.run.Classes[llm.Abandoned] = b.run.Classes[llm.Abandoned].Plus(cost)
			b.note("lost", "a call was under way when its process was killed")
		}
	}
	clear(b.calls.open)
}

// note counts a message of now.
func (b *builder) note(kind, text string) { b.notes.add(&b.run.Notes, b.run.Clock.Now(), kind, text) }
