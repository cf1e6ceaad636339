package step

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// A CallBooks is what one model call has set aside and spent. Its attempts may be under way at once, because a model may ask
// again before the first answer is there. What becomes of it, and what the journal holds of it:
//
//	when                    set aside in the budget             booked               in the journal
//	it waits in a queue     nothing                             nothing              nothing
//	an attempt begins       the most that the attempt can cost  nothing              Begin
//	an attempt failed       nothing for it                      the attempt          Tried
//	an attempt brought an   one call, for no other to take      the attempt          nothing yet
//	answer
//	the call ends           nothing                             the call, if it was  Completion, Failure, Abandoned
//	                                                            answered             or Refusal
//	it is recalled          nothing                             what the file has    nothing new
//
// mu guards what stands below it. entry is beside it, because an attempt waits for room with entry held, and attempts
// that end meanwhile need mu. The Ledger has a lock of its own, as all calls of a run share it.
//
// Room in the budget is set aside when an attempt has left every queue (Begin), and settled when that attempt
// has ended (Ended). To set it aside for the whole call was tried and dropped: a generation of 64 children
// behind a limit of 16 then held back the worst case of 48 calls that only waited, and of every call that
// paused before a retry. With a budget of tokens most retries found no room, although most of the budget was
// never used.
type CallBooks struct {
	l     *Ledger
	req   llm.Request
	inner bool // another call waits for this one
	grant *Grant

	attemptsBooked bool // what its attempts cost is booked, so Settle must not book it again
	booked         bool // the call itself is booked, too

	entry    sync.Mutex    // held while an attempt waits for room
	mu       sync.Mutex    // of what follows
	set      Amounts       // set aside for the attempts under way
	tried    []llm.Attempt // that have ended, and are booked
	begun    bool          // an attempt was begun
	open     []string      // models of the attempts under way
	model    string        // that all attempts were announced with, "" if it is not known or if they are several
	answered bool          // one brought an answer
	gone     bool          // the call has ended, even if attempts of it have not
}

// Call returns the books of a call that asks req. An inner call is one that another call waits for: it never waits for
// room. What grant has, nil for nothing, is room of its own.
func (l *Ledger) Call(req llm.Request, inner bool, grant *Grant) *CallBooks {
	return &CallBooks{l: l, req: req, inner: inner, grant: grant}
}

// AttemptsBooked says that what the call's attempts cost is in the ledger: an earlier incarnation gave the call up.
func (c *CallBooks) AttemptsBooked() { c.attemptsBooked = true }

// Booked says that all of the call is in the ledger: it is recalled.
func (c *CallBooks) Booked() {
	c.attemptsBooked, c.booked = true, true
	c.l.GiveBack(c.grant, 1)
}

// Full returns the limit that leaves no room for another attempt at any model, or "". It sets nothing aside. Begin does
// that, when the attempt has left the queue, and while it waits there it holds nothing. So two calls that each want
// another attempt cannot wait for each other.
func (c *CallBooks) Full() string { return c.l.full(c.l.Prices.Least(SizeOf(c.req))) }

func (c *CallBooks) worst(model string) Amounts { return c.l.Prices.Worst(SizeOf(c.req), model) }

// Begin sets aside what an attempt at the model with this key may cost, "" if it is not known. However many attempts
// are under way, they are one call, so only the first sets a call aside.
func (c *CallBooks) Begin(ctx context.Context, drain <-chan struct{}, model string) error {
	c.entry.Lock() // so that a second attempt does not wait for the room that its own call has
	defer c.entry.Unlock()
	w := c.worst(model)
	w.Calls -= c.counted()
	var err error
	if c.inner {
		err = c.l.admit(drain, w)
	} else {
		err = c.l.reserve(ctx, drain, w, c.grant, true)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = c.set.Plus(w)
	if !c.begun {
		c.model = model
	} else if c.model != model {
		c.model = ""
	}
	c.begun = true
	c.open = append(c.open, model)
	return nil
}

// counted returns how many calls are set aside for the call, 0 or 1.
func (c *CallBooks) counted() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set.Calls
}

// Begun reports whether an attempt was begun.
func (c *CallBooks) Begun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun
}

// Ended books what attempts cost as soon as they have ended, not when the call has. Stalls then count against
// their limit while they happen. A run in which every call hangs ends after the stalls that it may have and
// those in flight, however often each call would be retried.
//
// If an attempt brought an answer, the room for the call itself stays set aside until the call has ended. It is
// not yet spent, because a call counts once and Settle counts it. It must not be free either, or another call
// would take it.
func (c *CallBooks) Ended(attempts []llm.Attempt) {
	used, stalls := c.l.Prices.Used(SizeOf(c.req), attempts)
	c.mu.Lock()
	var set Amounts
	if !c.gone { // else all of it is given back
		c.answered = c.answered || Answered(attempts)
		set = c.close(attempts)
		c.set = c.set.Minus(set)
		c.tried = append(c.tried, attempts...)
	}
	c.mu.Unlock()
	c.l.settle(set, used, stalls)
}

// Complete returns a reply with the model that all of the call's attempts were announced with, where they do not say
// whose they are, so that what is charged is never more than what was set aside. Where a server sent no usage, attempts
// have an estimate of the prompt, and of an answer that came in one piece.
func (c *CallBooks) Complete(reply llm.Reply) llm.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := len(reply.Text) + len(reply.Reasoning)
	for _, called := range reply.Calls {
		written += len(called.Arguments)
	}
	reply.Attempts = slices.Clone(reply.Attempts)
	for i := range reply.Attempts {
		a := &reply.Attempts[i]
		if a.Model, a.EstimatedPrompt = cmp.Or(a.Model, c.model), 0; !charged(*a) {
			continue
		}
		a.EstimatedPrompt = llm.EstimateTokens(SizeOf(c.req).Prompt)
		if a.Status == llm.OK && a.Streamed == 0 {
			a.Streamed = min(llm.EstimateTokens(written), cmp.Or(a.MaxTokens, written))
		}
	}
	return reply
}

// close takes the attempt that ended with these out of those under way, and returns what was set aside for it. Where
// several are under way and it is not known which of them ended, that stays set aside until none is under way.
// c.mu is held.
func (c *CallBooks) close(attempts []llm.Attempt) (set Amounts) {
	at := 0
	if len(c.open) > 1 && slices.ContainsFunc(c.open, func(model string) bool { return model != c.open[0] }) {
		at = slices.IndexFunc(c.open, func(model string) bool { return len(attempts) > 0 && attempts[0].Model == model })
	}
	switch {
	case len(c.open) == 0: // announced by nobody
		return Amounts{}
	case at >= 0:
		set = c.worst(c.open[at])
	}
	c.open = slices.Delete(c.open, max(at, 0), max(at, 0)+1)
	if len(c.open) == 0 {
		set = c.set
	}
	if set.Calls = 1; c.answered || len(c.open) > 0 {
		set.Calls = 0
	}
	return set
}

// Untold returns the attempts that ended and are not in the reply, because its model forgot them or panicked.
// They were sent and are charged, so the result has to have them.
func (c *CallBooks) Untold(told []llm.Attempt) []llm.Attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	missing := len(c.tried) - len(told)
	if missing <= 0 {
		return nil
	}
	rest := slices.Clone(c.tried)
	for _, a := range told { // which may say more of an attempt than was known when it ended
		twin := func(b llm.Attempt) bool { return b.Status == a.Status && b.Latency == a.Latency && b.Err == a.Err }
		if i := slices.IndexFunc(rest, twin); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest[:min(missing, len(rest))]
}

// Settle books what is not booked yet of a call that ended with these attempts, and gives back what is still set aside.
// The call itself is counted here and not with its attempts, because it counts once however many attempts it took.
func (c *CallBooks) Settle(attempts []llm.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var used Amounts
	var stalls []string
	if !c.attemptsBooked {
		used, stalls = c.l.Prices.Used(SizeOf(c.req), attempts[min(len(c.tried), len(attempts)):])
	}
	if Answered(attempts) && !c.booked {
		used.Calls = 1
	}
	c.l.settle(c.set, used, stalls)
	c.set, c.gone = Amounts{}, true
}
