package evolve

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// A call is one call of a step while it is made. One goroutine owns it. Its attempts may be under way at once,
// because a model may ask again before the first answer is there. What becomes of it:
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
// mu guards these. entry is beside it, because an attempt waits for room with entry held, and attempts that end
// meanwhile need mu. The ledger has a lock of its own, as all calls of a run share it.
//
// Room in the budget is set aside when an attempt has left every queue (begin), and settled when that attempt
// has ended (ended). To set it aside for the whole call was tried and dropped: a generation of 64 children
// behind a limit of 16 then held back the worst case of 48 calls that only waited, and of every call that
// paused before a retry. With a budget of tokens most retries found no room, although most of the budget was
// never used.
type call struct {
	*step
	purpose
	req llm.Request
	id  journal.ID // its identity in the journal, if there is one

	inner  bool  // the model of another call asks, and that call waits for this one
	asks   asked // what its model asks of others
	booked bool  // what its attempts cost is booked, so settle must not book it again
	spent  bool  // the call itself is booked, too

	entry    sync.Mutex    // held while an attempt waits for room
	mu       sync.Mutex    // of what follows
	set      amounts       // set aside for the attempts under way
	tried    []llm.Attempt // that have ended, and are booked
	sends    int           // attempts that were begun
	open     int           // of these, those under way
	answered bool          // one brought an answer
	gone     bool          // the call has ended, even if attempts of it have not
}

// An innerModel is asked by the model of another call, which waits for it.
type innerModel struct {
	llm.LLM
	asks *asked // of the other call
}

func (m innerModel) Unwrap() llm.LLM { return m.LLM }

// newCall gives the call its identity: what it asks, and for which pull or which evaluation. Two arms that ask
// alike at the same time then each get their own answer back when the run is made again, whichever asks first.
//
// Its place in the step is not part of the identity. So the calls that a step makes at once are recalled in
// whatever order they begin. An evaluation's calls belong to it and not to a pull, because which of two pulls
// that ask for it makes it is chance.
func (t *Turn) newCall(p purpose, req llm.Request) *call {
	c := &call{step: t.step, purpose: p, req: req}
	if t.journal != nil {
		digest := hexadecimal(llm.Digest(req))
		if p.within != nil {
			c.id = t.journal.Claim(journal.KeyOf("evaluation", hexadecimal(p.within.id.Key), fmt.Sprint(p.within.id.N), digest))
		} else {
			c.id = t.journal.Claim(journal.KeyOf("pull", fmt.Sprint(t.pull), digest))
		}
		c.asks.id = c.id
	}
	return c
}

// hexadecimal returns all digits of a key, of which keys of other things are made.
func hexadecimal(key [32]byte) string { return hex.EncodeToString(key[:]) }

// recall returns how the call ended in an earlier incarnation. If the journal does not say, it waits until the
// call may be made: until every decision of earlier incarnations is made again.
func (c *call) recall(ctx context.Context) (reply llm.Reply, recalled bool, err error) {
	if c.journal == nil {
		return llm.Reply{}, false, nil
	}
	switch reply, recalled, err := c.recallEnd(); {
	case recalled || err != nil:
		return reply, recalled, err
	case c.past.Ended:
		// To make the call for real would pay for a pull that is over and reported.
		return c.abandonedThen()
	}
	if err := c.awaitLive(ctx); err != nil {
		return c.abandonedAgain(err)
	}
	return llm.Reply{}, false, nil
}

// recallEnd returns how the call ended, if the journal holds that and it stands.
func (c *call) recallEnd() (reply llm.Reply, recalled bool, err error) {
	c.owed.RLock()
	defer c.owed.RUnlock()
	r, err := c.journal.Recall(c.id, c.past.Ended)
	switch {
	case err != nil:
		return llm.Reply{}, false, err
	case r != nil && r.Kind == journal.Refusal:
		// It is refused again even if there is room now: what the search did next, it did without this call.
		return llm.Reply{}, true, &refusedError{r.Limit}
	case r != nil:
		if err := c.recallAsked(&c.asks, r.Asked); err != nil {
			return llm.Reply{}, false, err
		}
		c.bookRecalled(sizeOf(c.req), r.Reply.Attempts)
		c.booked, c.spent = true, true
		return *r.Reply, true, recalledError(r)
	case c.past.Ended:
		return llm.Reply{}, false, nil
	}
	// If an error ended the run, a failure before it may be that error. Recalled, it would end every
	// incarnation from now on, however healthy the endpoint is. It was paid for, and the call made now is too.
	if r, err = c.journal.MadeAgain(c.id); r != nil {
		c.bookRecalled(sizeOf(c.req), r.Reply.Attempts)
	}
	return llm.Reply{}, false, err
}

// abandonedThen returns how a call ended that its own search gave up and went on without. If the end of the
// pull is in the file, every call of it without an answer is such a call. Any other means that the search asks
// for something else now.
func (c *call) abandonedThen() (llm.Reply, bool, error) {
	r, err := c.journal.RecallAbandoned(c.id)
	if err == nil && r == nil {
		err = c.journal.Diverged(c.pull, c.id)
	}
	if err == nil {
		c.owed.RLock()
		err = c.recallAsked(&c.asks, r.Asked)
		c.owed.RUnlock()
	}
	if err != nil {
		return llm.Reply{}, false, err
	}
	c.booked = true // when the run began
	return *r.Reply, true, r.Error.Err()
}

// abandonedAgain returns how a call ended that an earlier incarnation gave up, if this one gives it up too. A
// run that reached its target gave up what was in flight then. Made again, its result must have the same
// attempts.
func (c *call) abandonedAgain(why error) (llm.Reply, bool, error) {
	r, err := c.journal.RecallAbandoned(c.id)
	if r == nil || err != nil {
		return llm.Reply{}, false, why
	}
	c.booked = true
	return *r.Reply, true, &abandonedError{r.Error.Err(), why}
}

// recalledError returns the error of a call that failed. If the budget had no room for another attempt, it is refused
// now too.
func recalledError(r *journal.Record) error {
	err := r.Error.Err()
	if r.Limit != "" {
		return &abandonedError{err, errors.Join(&refusedError{r.Limit}, err)}
	}
	return err
}

// An abandonedError has the text of the error in an earlier incarnation, so that the result is the same to the
// byte. It unwraps to the error of this one, which decides what the run does.
type abandonedError struct{ then, now error }

func (e *abandonedError) Error() string { return e.then.Error() }
func (e *abandonedError) Unwrap() error { return e.now }

// send makes the call. When an attempt has left every queue, what it may cost is set aside, and the journal
// records that it begins. When it ends, what it did cost is booked, before the next attempt or a pause.
func (c *call) send(ctx context.Context, l llm.LLM) (reply llm.Reply, err error) {
	trace := llm.TraceOf(ctx)
	if closed(trace.Drain) { // so that it need not wait in a queue to learn that it is not sent
		return llm.Reply{}, llm.ErrDraining
	}
	traced := llm.WithTrace(ctx, &llm.Trace{
		Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
			return trace.Ask(ctx, innerModel{l, &c.asks}, req)
		},
		Again:  func(context.Context, llm.Request) error { return c.again(trace.Drain) },
		Send:   func() error { return c.begin(ctx, trace.Drain) },
		Ended:  c.ended,
		Queued: both(c.queued, trace.Queued),
	})
	if bad := guard("the model's Generate", func() { reply, err = llm.Send(traced, l, c.req) }); bad != nil {
		err = bad
	}
	// Cleaned before it is recorded, so that an endpoint cannot fill the journal with what it says of itself,
	// and before it is acted on, so that a resumed run acts on the same text.
	reply = reply.Clean()
	// A model may return an answer without an attempt. Such an answer would count in no budget, and a run
	// limited by calls would never end.
	if err == nil && len(reply.Attempts) == 0 {
		reply.Attempts = []llm.Attempt{{Status: llm.OK}}
	}
	reply.Attempts = append(c.untold(reply.Attempts), reply.Attempts...)
	return reply, err
}

// untold returns the attempts that ended and are not in the reply, because its model forgot them or panicked.
// They were sent and are charged, so the result has to have them.
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
	return c.set.Calls
}

// begun reports whether an attempt was begun.
func (c *call) begun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sends > 0
}

// again reports why another attempt is not worth waiting for. It sets nothing aside. begin does that, when the
// attempt has left the queue, and while it waits there it holds nothing. So two calls that each want another
// attempt cannot wait for each other.
func (c *call) again(drain <-chan struct{}) error {
	if closed(drain) {
		return llm.ErrDraining
	}
	if err := c.doomed(); err != nil {
		return err
	}
	if limit := c.ledger.full(c.ledger.b.worst(c.req)); limit != "" {
		return fmt.Errorf("evolve: the budget's %s has no room for another attempt", limit)
	}
	return nil
}

// begin sets aside what an attempt may cost and records that it is about to be sent. There is one record for
// each attempt. After a kill the attempts without an end are those that were on the wire, and the accounts can
// say how many they are.
//
// Room comes first and the record after it: an attempt that is refused must not stand in the file as begun, or
// the next incarnation would count it as lost.
func (c *call) begin(ctx context.Context, drain <-chan struct{}) error {
	if err := c.doomed(); err != nil { // it waited in a queue when the fault came
		return err
	}
	if err := c.reserve(ctx, drain); err != nil {
		return err
	}
	if c.journal == nil {
		return nil
	}
	r := journal.Record{Kind: journal.Begin, Pull: &c.pull}
	if c.kind != KindChild {
		r.For = c.kind
	}
	if c.req.MaxTokens != nil {
		r.MaxTokens = *c.req.MaxTokens
	}
	return c.journal.Write(c.id, r)
}

// reserve sets aside what an attempt may cost. However many attempts are under way, they are one call, so only the
// first sets a call aside.
func (c *call) reserve(ctx context.Context, drain <-chan struct{}) error {
	c.entry.Lock() // so that a second attempt does not wait for the room that its own call has
	defer c.entry.Unlock()
	w := c.ledger.b.worst(c.req)
	w.Calls -= c.counted()
	var err error
	if c.inner {
		err = c.ledger.admit(drain, w)
	} else {
		err = c.ledger.reserve(ctx, drain, w, true)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = c.set.plus(w)
	c.sends++
	c.open++
	return nil
}

// ended books what attempts cost as soon as they have ended, not when the call has. Stalls then count against
// their limit while they happen. A run in which every call hangs ends after the stalls that it may have and
// those in flight, however often each call would be retried.
//
// If an attempt brought an answer, the room for the call itself stays set aside until the call has ended. It is
// not yet spent, because a call counts once and settle counts it. It must not be free either, or another call
// would take it.
func (c *call) ended(attempts []llm.Attempt) {
	used, stalls := c.ledger.b.used(sizeOf(c.req), attempts)
	c.mu.Lock()
	var set amounts
	if !c.gone { // else all of it is given back
		set = c.ledger.b.worst(c.req)
		c.open--
		c.answered = c.answered || answered(attempts)
		if c.answered || c.open > 0 {
			set.Calls = 0
		}
		c.set = c.set.minus(set)
		c.tried = append(c.tried, attempts...)
	}
	c.mu.Unlock()
	c.ledger.settle(set, used, stalls)
	if c.journal == nil || len(attempts) == 0 || answered(attempts) {
		return // the record of the call's end has an answered attempt, and comes at once
	}
	// Without this record a kill during the pause before a retry would leave the attempts before it in no
	// account. If it cannot be written, neither can the call's end, which reports that.
	_ = c.journal.Write(c.id, journal.Record{Kind: journal.Tried, Reply: &llm.Reply{Attempts: attempts}, Prompt: promptBound(c.req)})
}

// keep makes durable how the call ended, before anything acts on it. The kind of record decides what a resumed
// run does. A completion and a refusal are recalled. An abandoned call is made again. A failure is recalled,
// unless the run then ended by an error. One that cost a child alone is recalled even then, if another call was
// answered since: the search went on from it.
//
// A kill before the record is written leaves the begin record alone: the attempt counts as lost, and the call
// is made again.
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
		return reply, err // it was not begun, so there is nothing to account for
	case ctx.Err() != nil || refused && limit == "" || fatal(err):
		// The run ends by this. Recorded as a failure it would be recalled, and end every later incarnation too.
		r.Kind, r.Prompt = journal.Abandoned, promptBound(c.req)
	default:
		r.Kind, r.Prompt, r.Alone, r.Limit = journal.Failure, promptBound(c.req), c.bred, limit
	}
	if slices.ContainsFunc(reply.Attempts, func(a llm.Attempt) bool { return a.Usage == nil }) {
		r.Prompt = promptBound(c.req) // by which what they cost is bounded
	}
	r.Asked = c.asks.list()
	if bad := c.journal.Write(c.id, r); bad != nil {
		return reply, errors.Join(bad, err) // the reply too: its attempts were paid for, and belong in the result
	}
	return reply, err
}

// settle books what is not booked yet, and gives back what is still set aside. The call itself is counted here
// and not with its attempts, because it counts once however many attempts it took.
func (c *call) settle(reply llm.Reply, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var used amounts
	var stalls []string
	if !c.booked {
		used, stalls = c.ledger.b.used(sizeOf(c.req), reply.Attempts[min(len(c.tried), len(reply.Attempts)):])
	}
	if answered(reply.Attempts) && !c.spent {
		used.Calls = 1
	}
	c.ledger.settle(c.set, used, stalls)
	c.set, c.gone = amounts{}, true
}
