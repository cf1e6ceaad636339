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
	open map[callID]*call
	done map[callID]ended // calls for children, and sessions, that no child's record has named yet
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
	if r.Kind == record.Refusal {
		why := "the budget's " + r.Limit + " had no room"
		b.note("refused", why)
		b.calls.done[id] = ended{kind: r.Kind, reason: Name(why)}
		return
	}
	open := b.calls.open[id]
	if open == nil {
		open = &call{kind: r.For, pull: pullOf(r)}
		b.calls.open[id] = open
	}
	switch {
	case r.Kind == record.Begin:
		open.began, open.lost = open.began+1, r.Lost()
	case r.Kind != record.Tried:
		delete(b.calls.open, id)
		b.endCall(id, open, r)
	case r.Reply != nil:
		open.began -= min(open.began, 1)
		open.tried = append(open.tried, r.Reply.Attempts...)
	}
}

// endCall takes in how a call ended. Its record has all of its attempts, those too that were noted one by one.
func (b *builder) endCall(id callID, was *call, r record.Record) {
	if r.Reply == nil {
		return
	}
	e := ended{kind: r.Kind, model: ModelOf(r.Reply.Attempts), cost: b.charge(r.Reply.Attempts, was.pull)}
	if r.Error != nil {
		e.reason = Name(r.Error.Text)
	}
	switch {
	case r.Kind == record.Abandoned:
		b.note("abandoned", "a call was abandoned: "+e.reason)
	case r.Kind == record.Failure && llm.ClassOf(r.Reply.Attempts) == llm.Stall:
		b.note("stall", e.reason)
	case r.Kind == record.Failure:
		b.note("error", e.reason)
	}
	if was.kind == "" {
		if b.reply != nil && r.Kind == record.Completion {
			e.text = r.Reply.Text
		}
		b.calls.done[id] = e
	} else if p := b.pulls[was.pull]; p != nil {
		p.asides[id] = e
	}
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
		if p := b.pulls[*r.Pull]; p != nil {
			e := p.asides[id]
			of.model, of.cost = cmp.Or(e.model, of.model), of.cost.Plus(e.cost)
			delete(p.asides, id)
		}
	}
	b.calls.done[callID{r.Key, r.N}] = of
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
	return fmt.Sprintf(Transcript+"%d calls and %d tries:\n\n%s", len(r.Asked), tries, strings.Join(r.Notes, "\n"))
}

// charge adds attempts of a call that has ended to the sums.
func (b *builder) charge(attempts []llm.Attempt, pull int) Cost {
	run := b.run
	sum := run.add(Prices(run.Models), attempts)
	for _, a := range attempts {
		b.asked(a)
	}
	p := b.pulls[pull]
	if p == nil {
		run.Outside = run.Outside.Plus(sum)
		return sum
	}
	t, r := &run.Arms[p.arm].settled, &run.Rounds[p.round]
	t.Cost, r.Cost, r.Answered = t.Cost.Plus(sum), r.Cost.Plus(sum), r.Answered+sum.Calls
	return sum
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
