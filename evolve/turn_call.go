package evolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// A call is one call of a step while it is made. One goroutine owns it, but its attempts may be under way at once,
// where a model asks again before the first answer is there.
//
// Room in the budget is set aside for each attempt when it has left every queue (begin), and settled when the
// attempt has ended (ended), not for the call from its beginning to its end. A generation of 64 children
// behind a limit of 16 would otherwise hold back the worst case of 48 that only wait, and a retry that pauses
// that of one that does nothing: with a budget of tokens, most retries found no room although most of the
// budget was never used.
type call struct {
	*step
	purpose
	req llm.Request
	id  journal.ID // its identity in the journal, if there is one

	outer  *call // that waits for this one, where a model asks another; nil for none
	booked bool  // all that it cost is booked already

	entry    sync.Mutex // is held while an attempt waits for room
	mu       sync.Mutex
	set      amounts       // set aside for the attempts under way
	tried    []llm.Attempt // that have ended, and are booked
	sends    int           // attempts that were begun
	open     int           // of these, those under way
	answered bool          // one brought an answer
	blocks   amounts       // what is blocked while it waits
	gone     bool          // it has ended, whatever attempts have not
}

// An inner model is asked by the model of another call, which waits for it.
type inner struct {
	llm.LLM
	outer *call
}

func (i inner) Unwrap() llm.LLM { return i.LLM }

// held returns what the call, and those that wait for it, have set aside.
func (c *call) held() (sum amounts) {
	for ; c != nil; c = c.outer {
		c.mu.Lock()
		sum = sum.plus(c.set)
		c.mu.Unlock()
	}
	return sum
}

// block notes that the call is not sent, and what is set aside for those that wait for it therefore stays so.
// Nothing is blocked by a call that is on the wire.
func (c *call) block(held amounts) {
	if c.outer == nil {
		return
	}
	c.mu.Lock()
	was := c.blocks
	c.blocks = held
	c.mu.Unlock()
	c.ledger.unblock(was)
	c.ledger.block(held)
}

// newCall gives the call its identity: what it asks, and for which pull or which evaluation. So arms that ask
// alike at the same time each get their own answer back when the run is made again, whichever asks first then.
func (t *Turn) newCall(p purpose, req llm.Request) *call {
	c := &call{step: t.step, purpose: p, req: req}
	if t.journal != nil {
		digest := journal.Key(llm.Digest(req)).String()
		if p.within != nil {
			c.id = t.journal.Claim(journal.KeyOf("evaluation", p.within.id.String(), fmt.Sprint(p.within.id.N), digest))
		} else {
			c.id = t.journal.Claim(journal.KeyOf("pull", fmt.Sprint(t.pull), digest))
		}
	}
	return c
}

// recall returns how the call ended in an earlier incarnation. Otherwise it waits until the call may be made:
// until every decision of earlier incarnations is made again.
func (c *call) recall(ctx context.Context) (reply llm.Reply, recalled bool, err error) {
	if c.journal == nil {
		return llm.Reply{}, false, nil
	}
	r, err := c.journal.Recall(c.id, c.past.Ended)
	switch {
	case err != nil:
		return llm.Reply{}, false, err
	case r != nil && r.Kind == journal.Refusal:
		return llm.Reply{}, true, &refusedError{r.Limit}
	case r != nil:
		return *r.Reply, true, r.Error.Err()
	case c.past.Ended:
		// To make the call for real would pay for a pull that is over and reported.
		return c.abandonedThen()
	}
	// A failure that came before the run ended by an error may be what it ended by. Recalled, it would end
	// every incarnation from now on, however healthy the endpoint is.
	if r, err = c.journal.MadeAgain(c.id); err != nil {
		return llm.Reply{}, false, err
	}
	if r != nil {
		c.ledger.earlier([]journal.Record{*r})
	}
	if err := c.awaitLive(ctx); err != nil {
		return c.abandonedAgain(err)
	}
	return llm.Reply{}, false, nil
}

// abandonedThen returns what a call brought that its search gave up by itself, and went on. In a pull whose
// end is in the file there can be no other call that is not answered.
func (c *call) abandonedThen() (llm.Reply, bool, error) {
	r, err := c.journal.RecallAbandoned(c.id)
	if err == nil && r == nil {
		err = c.journal.Diverged(c.pull, c.id)
	}
	if err != nil {
		return llm.Reply{}, false, err
	}
	c.booked = true // when the run began
	return *r.Reply, true, r.Error.Err()
}

// abandonedAgain returns what a call brought that an earlier incarnation gave up, and this one too.
func (c *call) abandonedAgain(why error) (llm.Reply, bool, error) {
	r, err := c.journal.RecallAbandoned(c.id)
	if r == nil || err != nil {
		return llm.Reply{}, false, why
	}
	c.booked = true
	return *r.Reply, true, &abandonedError{r.Error.Err(), why}
}

// An abandonedError says what an earlier incarnation said, for the reason of this one.
type abandonedError struct{ then, now error }

func (e *abandonedError) Error() string { return e.then.Error() }
func (e *abandonedError) Unwrap() error { return e.now }

// awaitLive waits until every decision of earlier incarnations is made again. If replay turns out otherwise
// until then, the run is another one, and must not have paid for anything. In a run that is over nothing more
// is asked for.
func (s *step) awaitLive(ctx context.Context) error {
	select {
	case <-s.journal.Live():
		if s.journal.Finished() {
			return fmt.Errorf("evolve: journal %s tells of a run that is over: %w", s.journal.Path(), llm.ErrDraining)
		}
		return s.journal.Err()
	case <-ctx.Done():
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
}

// send makes the call. What an attempt may cost is set aside when it has left every queue, and it is begun in
// the journal then; what it did cost is booked when it ends, before the next one or a pause.
func (c *call) send(ctx context.Context, l llm.LLM) (reply llm.Reply, err error) {
	trace := llm.TraceOf(ctx)
	if closed(trace.Drain) {
		return llm.Reply{}, llm.ErrDraining
	}
	if i, ok := l.(inner); ok {
		l, c.outer = i.LLM, i.outer
		c.block(c.outer.held())
		defer c.block(amounts{})
	}
	traced := llm.WithTrace(ctx, &llm.Trace{
		Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
			return trace.Ask(ctx, inner{l, c}, req)
		},
		Again:  func(context.Context, llm.Request) error { return c.again(trace.Drain) },
		Send:   func() error { return c.begin(ctx, trace.Drain) },
		Ended:  c.ended,
		Queued: both(c.queued, trace.Queued),
	})
	if bad := guard("the model's Generate", func() { reply, err = llm.Send(traced, l, c.req) }); bad != nil {
		err = bad
	}
	reply = reply.Clean()
	// An answer costs something, whether its model tells of it or not. Without an attempt it would count in no
	// budget, and a run limited by calls would never end.
	if err == nil && len(reply.Attempts) == 0 {
		reply.Attempts = []llm.Attempt{{Status: llm.OK}}
	}
	reply.Attempts = append(c.untold(reply.Attempts), reply.Attempts...)
	return reply, err
}

// untold returns the attempts that ended and are not in a reply's: its model forgot them, or panicked.
func (c *call) untold(told []llm.Attempt) []llm.Attempt {
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

// counted returns how many calls are set aside for the call, 0 or 1.
func (c *call) counted() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set.calls
}

// begun reports whether an attempt was.
func (c *call) begun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sends > 0
}

// again reports why another attempt is not worth waiting for. It sets nothing aside: begin does when the
// attempt has left the queue, and waits there holding nothing, so that two calls that each want another attempt
// cannot wait for each other.
func (c *call) again(drain <-chan struct{}) error {
	if closed(drain) {
		return llm.ErrDraining
	}
	if limit := c.ledger.full(c.ledger.b.worst(c.req)); limit != "" {
		return fmt.Errorf("evolve: the budget's %s has no room for another attempt", limit)
	}
	return nil
}

// begin sets aside what an attempt may cost and writes down that it is about to be sent, one record for each
// attempt: a kill then loses exactly those that were on the wire, and the accounts can say how many.
func (c *call) begin(ctx context.Context, drain <-chan struct{}) error {
	if err := c.reserve(ctx, drain); err != nil {
		return err
	}
	c.block(amounts{}) // those that wait for it wait for an answer now
	if c.journal == nil {
		return nil
	}
	r := journal.Record{Kind: journal.Begin}
	if c.kind != KindChild {
		r.For = c.kind
	}
	if c.req.MaxTokens != nil {
		r.MaxTokens = *c.req.MaxTokens
	}
	return c.journal.Write(c.id, r)
}

// reserve sets aside what an attempt may cost. However many are under way, they are one call.
func (c *call) reserve(ctx context.Context, drain <-chan struct{}) error {
	c.entry.Lock() // so that a second attempt does not wait for the room that its own call has
	defer c.entry.Unlock()
	w := c.ledger.b.worst(c.req)
	w.calls -= c.counted()
	if err := c.ledger.reserve(ctx, drain, w, true); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = c.set.plus(w)
	c.sends++
	c.open++
	return nil
}

// ended books what attempts cost, when they have ended and not when the call has: stalls count against their
// limit while they happen, so a run in which every call hangs ends after as many stalls as it may have and
// those in flight, however often each call would be retried.
//
// The room for the call itself stays set aside if an attempt brought an answer, until the call has ended too. In
// between it is neither spent nor free.
func (c *call) ended(attempts []llm.Attempt) {
	used, stalls := c.ledger.b.used(sizeOf(c.req), attempts)
	c.mu.Lock()
	var set amounts
	if !c.gone { // else all of it is given back
		set = c.ledger.b.worst(c.req)
		c.open--
		c.answered = c.answered || answered(attempts)
		if c.answered || c.open > 0 {
			set.calls = 0
		}
		c.set = c.set.minus(set)
		c.tried = append(c.tried, attempts...)
	}
	gone := c.gone
	c.mu.Unlock()
	c.ledger.settle(set, used, stalls)
	if !gone {
		c.block(c.outer.held())
	}
	if c.journal == nil || len(attempts) == 0 || answered(attempts) {
		return
	}
	// If this cannot be written, neither can the call's end, which says so.
	_ = c.journal.Write(c.id, journal.Record{Kind: journal.Tried, Reply: &llm.Reply{Attempts: attempts}, Prompt: promptBound(c.req)})
}

// keep makes durable how the call ended, before anything acts on it. What it is recorded as decides what a
// resumed run does: a completion is recalled, a refusal too, an abandoned call is made again, and a failure is
// recalled unless the run then ended by an error.
func (c *call) keep(ctx context.Context, reply llm.Reply, err error) (llm.Reply, error) {
	if c.journal == nil {
		return reply, err
	}
	r := journal.Record{Kind: journal.Completion, Reply: &reply, Error: llm.NewErrorRecord(err)}
	limit, refused := Refused(err)
	switch {
	case err == nil:
	case len(reply.Attempts) == 0 && limit != "":
		r = journal.Record{Kind: journal.Refusal, Limit: limit}
	case !c.begun() && len(reply.Attempts) == 0 && (refused || ctx.Err() != nil):
		return reply, err // it was not begun
	case ctx.Err() != nil || refused && limit == "" || fatal(err):
		r.Kind, r.Prompt = journal.Abandoned, promptBound(c.req)
	default:
		r.Kind, r.Prompt, r.Alone = journal.Failure, promptBound(c.req), c.bred
	}
	if bad := c.journal.Write(c.id, r); bad != nil {
		return reply, errors.Join(bad, err)
	}
	return reply, err
}

// settle books what is not booked yet, and gives back what is still set aside.
func (c *call) settle(reply llm.Reply, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var used amounts
	var stalls int
	if !c.booked {
		used, stalls = c.ledger.b.used(sizeOf(c.req), reply.Attempts[min(len(c.tried), len(reply.Attempts)):])
	}
	if answered(reply.Attempts) {
		used.calls = 1
	}
	c.ledger.settle(c.set, used, stalls)
	c.set, c.gone = amounts{}, true
}

// bookRecalled books a call that comes from a journal.
func (s *step) bookRecalled(req size, attempts []llm.Attempt) {
	used, stalls := s.ledger.b.used(req, attempts)
	if answered(attempts) {
		used.calls = 1
	}
	s.ledger.settle(amounts{}, used, stalls)
}
