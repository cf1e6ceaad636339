package view

import (
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// A callID names a call in the journal.
type callID struct {
	key string
	n   int
}

// A call is one that has begun and not ended.
type call struct {
	kind  string // what it is for; "" for a child
	pull  int    // that sends it; -1 if that is not known, or before the first
	began int    // attempts that were sent and whose end is not known
	tried []llm.Attempt
}

// An ended call waits for the child that is made of it.
type ended struct {
	kind   journal.Kind
	model  string
	spent  cost
	text   string // of the reply
	reason string // what ended the call without a reply
}

// calls follow the calls of a run from their first attempt to their end, and sum what they cost by class.
type calls struct {
	prices prices
	open   map[callID]*call
	done   map[callID]ended // calls for children that no child's record has named yet
	order  []callID         // of done, oldest first

	spent   cost               // of the whole run
	counts  map[llm.Class]int  // calls by the class of their last attempt
	classes map[llm.Class]cost // what attempts cost, by their class
	stalls  int                // attempts
	lost    int                // attempts that were under way at a kill
}

// mostDone bounds the calls whose child has not come yet. More are only there if children were not recorded, as in
// journals of earlier versions.
const mostDone = 512

func newCalls() calls {
	return calls{open: map[callID]*call{}, done: map[callID]ended{},
		counts: map[llm.Class]int{}, classes: map[llm.Class]cost{}}
}

// flying returns how many calls are under way.
func (c *calls) flying() int { return len(c.open) }

// pullOf returns the pull that a record names, -1 if it names none.
func pullOf(r journal.Record) int {
	if r.Pull == nil {
		return -1
	}
	return *r.Pull
}

// call takes in a record about a call.
func (l *runLog) call(r journal.Record) {
	id := callID{r.Key, r.N}
	c := &l.calls
	open := c.open[id]
	if open == nil && r.Kind != journal.Refusal {
		open = &call{kind: r.For, pull: pullOf(r)}
		c.open[id] = open
	}
	switch r.Kind {
	case journal.Begin:
		open.began++
	case journal.Tried:
		if r.Reply != nil {
			open.began -= min(open.began, 1)
			open.tried = append(open.tried, r.Reply.Attempts...)
		}
	case journal.Refusal:
		l.notes.add(l.clock.now(), "refused", "the budget's "+r.Limit+" had no room")
		c.keep(id, ended{kind: r.Kind, reason: "the budget's " + r.Limit + " had no room"})
	default:
		delete(c.open, id)
		l.endCall(id, open, r)
	}
}

// endCall takes in how a call ended. Its record has all of its attempts, those too that were noted one by one.
func (l *runLog) endCall(id callID, was *call, r journal.Record) {
	if r.Reply == nil {
		return
	}
	attempts := r.Reply.Attempts
	c := &l.calls
	sum := l.charge(attempts, was)
	e := ended{kind: r.Kind, model: modelOf(attempts), spent: sum, text: r.Reply.Text}
	if r.Error != nil {
		e.reason = short(r.Error.Text)
	}
	switch r.Kind {
	case journal.Abandoned:
		l.notes.add(l.clock.now(), "abandoned", "a call was given up: "+e.reason)
	case journal.Failure:
		kind := "error"
		if n := len(attempts); n > 0 && attempts[n-1].Status.Class() == llm.Stall {
			kind = "stall"
		}
		l.notes.add(l.clock.now(), kind, e.reason)
	}
	if was.kind == "" {
		c.keep(id, e)
		l.programs.learn(e.text)
	}
}

// charge adds attempts of a call that has ended to the sums.
func (l *runLog) charge(attempts []llm.Attempt, was *call) cost {
	c := &l.calls
	sum, class := c.prices.call(attempts)
	c.spent = c.spent.plus(sum)
	if class != "" {
		c.counts[class]++
	}
	for _, a := range attempts {
		if a.Status.Class() == llm.Stall {
			c.stalls++
		}
		c.classes[a.Status.Class()] = c.classes[a.Status.Class()].plus(c.prices.of(a))
		l.servers.add(l.clock.now(), a)
	}
	if p := l.pulls[was.pull]; p != nil {
		l.ledgers.spend(p.arm, sum)
	}
	return sum
}

// keep remembers a call until its child comes.
func (c *calls) keep(id callID, e ended) {
	if _, again := c.done[id]; !again {
		c.order = append(c.order, id)
	}
	c.done[id] = e
	for len(c.order) > mostDone {
		delete(c.done, c.order[0])
		c.order = c.order[1:]
	}
}

// take returns the call that a child was made of, and forgets it.
func (c *calls) take(id callID) (ended, bool) {
	e, ok := c.done[id]
	if ok && e.kind != journal.Abandoned { // which is made again
		delete(c.done, id)
	}
	return e, ok
}

// cut ends all calls that are under way because their process is gone. What ended of them was paid for, and what did
// not is lost: it may have been paid for, and nobody knows.
func (l *runLog) cut() {
	c := &l.calls
	for _, open := range c.open {
		if len(open.tried) > 0 {
			l.charge(open.tried, open)
		}
		if open.began > 0 {
			c.lost += open.began
			for range open.began {
				l.notes.add(l.clock.now(), "lost", "a call was under way when its process was killed")
			}
		}
	}
	clear(c.open)
}
