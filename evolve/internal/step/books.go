package step

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// CallBooks are what one model call has set aside and spent. Its attempts may be under way at once, because a model
// may ask again before the first answer is there, or ask others meanwhile. What becomes of it, and what the journal
// holds:
//
//	when                    set aside in the budget             booked               in the journal
//	it waits in a queue     nothing                             nothing              nothing
//	an attempt begins       the most that the attempt can cost  nothing              Begin
//	an attempt failed       nothing, if none is under way       the attempt          Tried
//	an attempt brought an   one call, for no other to take      the attempt          nothing yet
//	answer
//	the call ends           nothing                             the call, if it was  Completion, Failure, Abandoned
//	                                                            answered             or Refusal
//	it is recalled          nothing                             what the file has    nothing new
//
// Room in the budget is set aside when an attempt has left every queue. To set it aside for the whole call was tried
// and dropped: a generation of 64 children behind a limit of 16 then held back the worst case of 48 calls that only
// waited, and of every call that paused before a retry. With a budget of tokens most retries found no room, although
// most of the budget was never used.
type CallBooks struct {
	l     *Ledger
	size  Size
	outer *CallBooks // of the call whose model asks this; nil for a call of a step
	grant *Grant     // room of its own; nil for none

	attemptsBooked, booked bool // its attempts, and the call itself, are in the ledger already: it is recalled

	holding  sync.Mutex    // held while what its model asks sets the call aside
	entry    sync.Mutex    // held while an attempt waits for room, so not mu: attempts that end meanwhile need that
	mu       sync.Mutex    // of what follows
	prompt   int           // of the longest request, its own or its model's
	set      Amounts       // set aside for the attempts under way
	tried    []llm.Attempt // that have ended, and are booked
	begun    int           // attempts
	open     int           // of these, those under way
	model    string        // that all attempts were announced with, "" if it is not known or if they are several
	answered bool          // one brought an answer
	gone     bool          // the call has ended, even if attempts of it have not
}

// Call returns the books of a call. What grant has, nil for nothing, is room of its own.
func (l *Ledger) Call(req llm.Request, grant *Grant) *CallBooks {
	size := SizeOf(req)
	return &CallBooks{l: l, size: size, grant: grant, prompt: size.Prompt}
}

// Inner returns the books of what the call's model asks of another one. Its attempts are the call's, and no calls.
func (c *CallBooks) Inner(req llm.Request) *CallBooks {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.l.Call(req, nil)
	in.outer, c.prompt = c, max(c.prompt, in.prompt)
	return in
}

// Prompt returns the most tokens that the prompt of any of the call's attempts has.
func (c *CallBooks) Prompt() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prompt
}

// Begun reports whether an attempt was begun.
func (c *CallBooks) Begun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun > 0
}

// AttemptsBooked says that what the call's attempts cost is in the ledger: an earlier incarnation gave the call up.
func (c *CallBooks) AttemptsBooked() { c.attemptsBooked = true }

// Booked says that all of the call is in the ledger: it is recalled.
func (c *CallBooks) Booked() {
	c.attemptsBooked, c.booked = true, true
	c.l.GiveBack(c.grant, 1)
}

// Full returns the limit that leaves no room for another attempt at any model, or "". It sets nothing aside, as Begin
// does. So two calls that each want another attempt cannot wait for each other.
func (c *CallBooks) Full() string { return c.l.full(c.l.Prices.Least(c.size)) }

// Begin sets aside what an attempt at the model with this key may cost, "" if it is not known. However many attempts
// are under way, they are one call, so only the first sets a call aside. One beside others does not wait for room:
// these may wait for it, and free theirs only after it has ended.
func (c *CallBooks) Begin(ctx context.Context, drain <-chan struct{}, model string) error {
	c.entry.Lock()
	defer c.entry.Unlock()
	c.mu.Lock()
	w := want{Amounts: c.l.Prices.Worst(c.size, model), grant: c.grant, attempt: true,
		now: c.outer != nil || c.open > 0}
	w.Calls -= c.set.Calls
	c.mu.Unlock()
	if c.outer != nil {
		w.Calls = 0
		if err := c.outermost().hold(ctx, drain); err != nil {
			return err
		}
	}
	if err := c.l.reserve(ctx, drain, w); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun == 0 {
		c.model = model
	} else if c.model != model {
		c.model = ""
	}
	c.set = c.set.Plus(w.Amounts)
	c.begun++
	c.open++
	return nil
}

// outermost returns the books of the call of the step, which are its own but for what a model asks.
func (c *CallBooks) outermost() *CallBooks {
	for c.outer != nil {
		c = c.outer
	}
	return c
}

// hold sets aside the call itself before what its model asks, unless an attempt has: a model that only asks others has
// no attempt of its own. It does not wait for room.
func (c *CallBooks) hold(ctx context.Context, drain <-chan struct{}) error {
	c.holding.Lock()
	defer c.holding.Unlock()
	c.mu.Lock()
	held := c.set.Calls > 0 || c.gone
	c.mu.Unlock()
	if held {
		return nil
	}
	one := Amounts{Calls: 1}
	if err := c.l.reserve(ctx, drain, want{Amounts: one, grant: c.grant, attempt: true, now: true}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		c.l.settle(one, Amounts{}, nil)
	} else {
		c.set.Calls++
	}
	return nil
}

// Ended books what attempts cost as soon as they have ended, not when the call has. Stalls then count against their
// limit while they happen. A run in which every call hangs ends after the stalls that it may have and those in
// flight, however often each call would be retried.
//
// What is set aside is given back when none is under way: which of several has ended is not known. After an answer
// the room for the call itself stays until Settle counts the call, once, or another call would take it.
func (c *CallBooks) Ended(attempts []llm.Attempt) {
	used, stalls := c.l.Prices.Used(c.size, attempts)
	c.mu.Lock()
	var set Amounts
	if !c.gone { // else all of it is given back
		c.answered = c.answered || Answered(attempts)
		c.tried = append(c.tried, attempts...)
		if c.open = max(0, c.open-1); c.open == 0 {
			if set = c.set; c.answered {
				set.Calls = 0
			}
			c.set = c.set.Minus(set)
		}
	}
	c.mu.Unlock()
	c.l.settle(set, used, stalls)
	c.outer.hear(attempts)
}

// hear takes in attempts of what the call's model asked, which are booked.
func (c *CallBooks) hear(attempts []llm.Attempt) {
	if c != nil {
		c.mu.Lock()
		c.tried, c.answered = append(c.tried, attempts...), c.answered || Answered(attempts)
		c.mu.Unlock()
		c.outer.hear(attempts)
	}
}

// Complete returns a reply with the model that all of the call's attempts were announced with, where they do not say
// whose they are, so that what is charged is never more than what was set aside. Where a server sent no usage,
// attempts have an estimate of the prompt, and of an answer that came in one piece.
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
		a.EstimatedPrompt = llm.EstimateTokens(c.size.Prompt)
		if a.Status == llm.OK && a.Streamed == 0 {
			a.Streamed = min(llm.EstimateTokens(written), cmp.Or(a.MaxTokens, written))
		}
	}
	return reply
}

// Untold returns the attempts that ended and are not in the reply: those of models that its model asked, and those
// that it forgot or panicked after. They were sent and are charged, so the result has to have them.
func (c *CallBooks) Untold(told []llm.Attempt) []llm.Attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := slices.Clone(c.tried)
	for _, a := range slices.Backward(told) { // which may say more of an attempt than was known when it ended
		for i, b := range slices.Backward(rest) { // the call's own are mostly the last
			if b.Status == a.Status && b.Latency == a.Latency && b.Err == a.Err {
				rest = slices.Delete(rest, i, i+1)
				break
			}
		}
	}
	return rest[:max(0, min(len(c.tried)-len(told), len(rest)))]
}

// Settle books what is not booked yet of a call that ended with these attempts, and gives back what is still set
// aside. The call itself is counted here and not with its attempts, because it counts once however many attempts it
// took.
func (c *CallBooks) Settle(attempts []llm.Attempt) {
	c.mu.Lock()
	var used Amounts
	var stalls []string
	rest := attempts[min(len(c.tried), len(attempts)):]
	if !c.attemptsBooked {
		used, stalls = c.l.Prices.Used(c.size, rest)
	}
	if Answered(attempts) && !c.booked && c.outer == nil {
		used.Calls = 1
	}
	c.l.settle(c.set, used, stalls)
	c.set, c.gone = Amounts{}, true
	c.mu.Unlock()
	c.outer.hear(rest)
}
