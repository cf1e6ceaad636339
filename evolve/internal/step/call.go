package step

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A purpose is what a call is for.
type purpose struct {
	kind   string
	bred   bool   // for a child of a Breeder, whose search goes on if the call fails: that costs one child
	within *Asked // the evaluation that asks, or the call whose model does; nil for none
}

// An Answer is how a call ended.
type Answer struct {
	llm.Reply
	ID record.ID // of the call in the journal, if there is one
	// Recalled says that it came from the journal: a failure that is recalled must not count against an endpoint that
	// may be back.
	Recalled bool
}

// KindChild is the kind of a call that asks for a child.
const KindChild = "child"

// Ask asks l for something of this kind, and ends the run after too many failures in a row.
func (s *Step) Ask(ctx context.Context, kind string, l llm.LLM, req llm.Request) (llm.Reply, error) {
	return s.askOnce(ctx, purpose{kind: kind, bred: s != nil && s.session != ""}, l, req)
}

// AskForChild asks l for a child of a Breeder, which counts failures in a row itself.
func (s *Step) AskForChild(ctx context.Context, l llm.LLM, req llm.Request) (Answer, error) {
	return s.ask(ctx, purpose{kind: KindChild, bred: true}, l, req)
}

// Within returns ctx for a step, in which llm.Ask goes through s. Code that has no Turn at hand, such as an
// operator's helper or a model that asks another, calls llm.Ask. Its calls are then in the budget, the journal
// and the result too.
func (s *Step) Within(ctx context.Context) context.Context {
	return llm.WithTrace(ctx, &llm.Trace{Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		return s.Ask(ctx, "other", l, req)
	}})
}

// mostFailures is how many calls in a row may fail in a search that does not count its failures itself, as a
// Breeder does. Failed calls do not count in Budget.Calls. Without this bound a search that goes on after each
// error would ask a dead endpoint for ever.
const mostFailures = 256

// askOnce is ask, and ends the run after too many failures in a row.
func (s *Step) askOnce(ctx context.Context, p purpose, l llm.LLM, req llm.Request) (llm.Reply, error) {
	reply, err := s.ask(ctx, p, l, req)
	if s != nil && !reply.Recalled {
		if bad := s.Failing.Note("model calls", reply.Attempts, err, mostFailures); bad != nil {
			// Noted in the step as well as returned: a search that ignores errors is the one that this is for.
			s.end(bad)
			return reply.Reply, bad
		}
	}
	return reply.Reply, err
}

// ask is askOnce without the count of failures in a row.
func (s *Step) ask(ctx context.Context, p purpose, l llm.LLM, req llm.Request) (a Answer, err error) {
	if s == nil {
		a.Reply, err = l.Generate(ctx, req)
		return a, err
	}
	if err := s.doomed(); err != nil {
		s.noteError(err)
		return a, err
	}
	asker, inner := l.(innerModel)
	if inner {
		l, p.within = asker.LLM, asker.asks
	}
	// This order is the contract. A call that is in the file is not sent again. A call that the budget has no
	// room for is not sent. No reply is acted on before it is on disk. What was spent is booked however the
	// call ended, which is why Settle stands behind no condition.
	c := s.newCall(p, req, inner)
	reply, recalled, err := c.recall(ctx)
	if err == nil && !recalled {
		heard := c.listen()
		reply, err = c.send(ctx, l)
		reply, err = c.keep(ctx, reply, heard(reply.Attempts, err))
	} else {
		s.silence.Hear(reply.Attempts)
	}
	c.books.Settle(reply.Attempts)
	if len(reply.Attempts) > 0 {
		c.asks.Note(Call{Kind: p.kind, Attempts: reply.Attempts})
	}
	of := record.Asked{Kind: c.kind, Key: c.id.String(), N: c.id.N, Prompt: SizeOf(c.req).Prompt}
	switch {
	case p.within != nil:
		p.within.Add(of, c.asks.Calls())
	case s.session != "":
		s.asked.Add(of, nil)
		fallthrough
	default:
		s.noteCalls(c.asks.CallsFor(s.child))
	}
	if limit, _ := Refusal(err); limit == "" || s.session == "" || s.Ledger.UsedUp() != "" {
		s.noteError(err) // a session's call may be too large for a budget that has room for others
	}
	if p.within == nil { // of a recalled call too, as whoever counts has to count the same when a run is resumed
		llm.TraceOf(ctx).Ended(reply.Attempts)
	}
	return Answer{reply, c.id, recalled}, err
}

// A call is one call of a step while it is made. One goroutine owns it; its books say what it has set aside and spent,
// and in which state it is.
type call struct {
	*Step
	purpose
	req   llm.Request
	id    record.ID // its identity in the journal, if there is one
	asks  Asked     // what its model asks of others
	books *CallBooks
}

// An innerModel is asked by the model of another call, which waits for it.
type innerModel struct {
	llm.LLM
	asks *Asked // of the other call
}

func (m innerModel) Unwrap() llm.LLM { return m.LLM }

// newCall gives the call its identity: what it asks, and for which pull, session or evaluation. Two arms that ask
// alike at the same time then each get their own answer back when the run is made again, whichever asks first.
//
// Its place in the step is not part of the identity. So the calls that a step makes at once are recalled in
// whatever order they begin. An evaluation's calls belong to it and not to a pull, because which of two pulls
// that ask for it makes it is chance.
func (s *Step) newCall(p purpose, req llm.Request, inner bool) *call {
	c := &call{Step: s, purpose: p, req: req, books: s.Ledger.Call(req, inner, s.grant)}
	if s.Journal != nil {
		digest := hexadecimal(req.Digest())
		switch {
		case p.within != nil:
			c.id = s.Journal.Claim(record.KeyOf("evaluation", hexadecimal(p.within.ID.Key), fmt.Sprint(p.within.ID.N), digest))
		case s.session != "":
			c.id = s.Journal.Claim(record.KeyOf("session", s.session, digest))
		default:
			c.id = s.Journal.Claim(record.KeyOf("pull", fmt.Sprint(s.Pull), digest))
		}
		c.asks.ID = c.id
	}
	return c
}

// hexadecimal returns all digits of a key, of which keys of other things are made.
func hexadecimal(key [32]byte) string { return hex.EncodeToString(key[:]) }

// recall returns how the call ended in an earlier incarnation. If the journal does not say, it waits until the
// call may be made: until every decision of earlier incarnations is made again.
func (c *call) recall(ctx context.Context) (reply llm.Reply, recalled bool, err error) {
	if c.Journal == nil {
		return llm.Reply{}, false, nil
	}
	switch reply, recalled, err := c.recallEnd(); {
	case recalled || err != nil:
		return reply, recalled, err
	case c.Past.Ended:
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
	c.arrears.RLock()
	defer c.arrears.RUnlock()
	r, err := c.Journal.Recall(c.id, c.Past.Ended)
	switch {
	case err != nil:
		return llm.Reply{}, false, err
	case r != nil && r.Kind == record.Refusal:
		// It is refused again even if there is room now: what the search did next, it did without this call.
		return llm.Reply{}, true, &Refused{Limit: r.Limit}
	case r != nil:
		if err := c.recallAsked(&c.asks, r.Asked); err != nil {
			return llm.Reply{}, false, err
		}
		c.bookRecalled(SizeOf(c.req), r.Reply.Attempts)
		c.books.Booked()
		return *r.Reply, true, recalledError(r)
	case c.Past.Ended:
		return llm.Reply{}, false, nil
	}
	// If an error ended the run, a failure before it may be that error. Recalled, it would end every
	// incarnation from now on, however healthy the endpoint is. It was paid for, and the call made now is too.
	if r, err = c.Journal.MadeAgain(c.id); r != nil {
		c.bookRecalled(SizeOf(c.req), r.Reply.Attempts)
	}
	return llm.Reply{}, false, err
}

// abandonedThen replays a call that the search abandoned in an earlier incarnation and then did without. If the journal
// has the end of a pull, all of the pull's calls without an answer were abandoned. A call that was not means that the
// search asks for something else now.
func (c *call) abandonedThen() (llm.Reply, bool, error) {
	r, err := c.Journal.RecallAbandoned(c.id)
	if err == nil && r == nil {
		err = c.Journal.Diverged(c.Pull, c.id)
	}
	if err == nil {
		c.arrears.RLock()
		err = c.recallAsked(&c.asks, r.Asked)
		c.arrears.RUnlock()
	}
	if err != nil {
		return llm.Reply{}, false, err
	}
	c.books.AttemptsBooked() // when the run began
	return *r.Reply, true, r.Error.Err()
}

// abandonedAgain returns how a call ended that an earlier incarnation abandoned, if this one abandons it too. A
// run that reached its target abandoned what was in flight then. Made again, its result must have the same
// attempts.
func (c *call) abandonedAgain(why error) (llm.Reply, bool, error) {
	r, err := c.Journal.RecallAbandoned(c.id)
	if r == nil || err != nil {
		return llm.Reply{}, false, why
	}
	c.books.AttemptsBooked()
	return *r.Reply, true, &Abandoned{Then: r.Error.Err(), Now: why}
}

// recalledError returns the error of a call that failed. If the budget had no room for another attempt, it is refused
// now too.
func recalledError(r *record.Record) error {
	err := r.Error.Err()
	if r.Limit != "" {
		return &Abandoned{Then: err, Now: errors.Join(&Refused{Limit: r.Limit}, err)}
	}
	return err
}

// listen begins the call for the run's count of calls without an answer. The func that it returns ends it there,
// with the call's error or that of a run that hears nothing. The failure of a call within another call, or within
// an evaluation, is for these to judge.
func (c *call) listen() (heard func([]llm.Attempt, error) error) {
	if c.within == nil {
		return c.silence.Begin()
	}
	return func(attempts []llm.Attempt, err error) error {
		c.silence.Hear(attempts)
		return err
	}
}

// recallAsked takes in what the file has of calls that are not made now, because what came of them is recalled
// itself, and of those that their models made. The caller has read-locked arrears.
func (s *Step) recallAsked(a *Asked, list []record.Asked) error {
	for _, of := range list {
		c, err := s.Journal.RecallAsked(of)
		switch {
		case err != nil:
			return err
		case c == nil:
			continue
		case c.Kind == record.Refusal: // who asked may have made do without
			s.noteError(&Refused{Limit: c.Limit})
			continue
		case len(c.Reply.Attempts) > 0:
			a.Note(Call{Kind: of.Kind, Attempts: c.Reply.Attempts})
		}
		if c.Kind != record.Abandoned { // which is booked when the run begins
			s.bookRecalled(Size{Prompt: of.Prompt}, c.Reply.Attempts)
		}
		if err := s.recallAsked(a, c.Asked); err != nil {
			return err
		}
	}
	return nil
}

// send makes the call. When an attempt has left every queue, what it may cost is set aside, and the journal
// records that it begins. When it ends, what it did cost is booked, before the next attempt or a pause.
func (c *call) send(ctx context.Context, l llm.LLM) (reply llm.Reply, err error) {
	trace := llm.TraceOf(ctx)
	if Closed(trace.Drain) { // so that it need not wait in a queue to learn that it is not sent
		return llm.Reply{}, llm.ErrDraining
	}
	traced := llm.WithTrace(ctx, &llm.Trace{
		Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
			return trace.Ask(ctx, innerModel{l, &c.asks}, req)
		},
		Again:  func(context.Context, llm.Request) error { return c.again(trace.Drain) },
		Send:   func(model string) error { return c.begin(ctx, trace.Drain, model) },
		Ended:  c.ended,
		Queued: Both(c.Queued.Begin, trace.Queued),
	})
	for {
		if bad := Guard("the model's Generate", func() { reply, err = llm.Send(traced, l, c.req) }); bad != nil {
			err = bad
		}
		if !errors.Is(err, ErrGranted) || len(reply.Attempts) > 0 {
			break
		}
		if err = c.Ledger.AwaitGrants(ctx, trace.Drain); err != nil {
			return reply, err
		}
	}
	// Cleaned before it is recorded, so that an endpoint cannot fill the journal with what it says of itself,
	// and before it is acted on, so that a resumed run acts on the same text.
	reply = reply.Clean()
	// A model may return an answer without an attempt. Such an answer would count in no budget, and a run
	// limited by calls would never end.
	if err == nil && len(reply.Attempts) == 0 {
		reply.Attempts = []llm.Attempt{{Status: llm.OK}}
	}
	reply = c.books.Complete(reply)
	reply.Attempts = append(c.books.Untold(reply.Attempts), reply.Attempts...)
	return reply, err
}

// again reports why another attempt is not worth waiting for.
func (c *call) again(drain <-chan struct{}) error {
	if Closed(drain) {
		return llm.ErrDraining
	}
	if err := c.doomed(); err != nil {
		return err
	}
	if limit := c.books.Full(); limit != "" {
		return fmt.Errorf("evolve: the budget's %s has no room for another attempt", limit)
	}
	return nil
}

// begin sets aside what an attempt at a model may cost and records that it is about to be sent. There is one record for
// each attempt. After a kill the attempts without an end are those that were on the wire, and the accounts can
// say how many they are.
//
// Room comes first and the record after it: an attempt that is refused must not stand in the file as begun, or
// the next incarnation would count it as lost.
func (c *call) begin(ctx context.Context, drain <-chan struct{}, model string) error {
	if err := c.doomed(); err != nil { // it waited in a queue when the fault came
		return err
	}
	if err := c.books.Begin(ctx, drain, model); err != nil {
		return err
	}
	if c.Journal == nil {
		return nil
	}
	r := record.Record{Kind: record.Begin, Pull: &c.Pull, Prompt: SizeOf(c.req).Prompt}
	if c.kind != KindChild {
		r.For = c.kind
	}
	if c.req.MaxTokens != nil {
		r.MaxTokens = *c.req.MaxTokens
	}
	return c.Journal.Write(c.id, r)
}

// ended books attempts that have ended, and records those that failed.
func (c *call) ended(attempts []llm.Attempt) {
	attempts = c.books.Complete(llm.Reply{Attempts: attempts}.Clean()).Attempts // as send cleans those of the reply
	c.books.Ended(attempts)
	if c.Journal == nil || len(attempts) == 0 || Answered(attempts) {
		return // the record of the call's end has an answered attempt, and comes at once
	}
	// Without this record a kill during the pause before a retry would leave the attempts before it in no
	// account. If it cannot be written, neither can the call's end, which reports that.
	r := record.Record{Kind: record.Tried, Reply: &llm.Reply{Attempts: attempts}, Prompt: SizeOf(c.req).Prompt}
	_ = c.Journal.Write(c.id, r)
}

// keep makes durable how the call ended, before anything acts on it. The kind of record decides what a resumed
// run does. A completion and a refusal are recalled. An abandoned call is made again. A failure is recalled,
// unless the run then ended by an error. One that cost a child alone is recalled even then, if another call was
// answered since: the search went on from it.
//
// A kill before the record is written leaves the begin record alone: the attempt counts as lost, and the call
// is made again.
func (c *call) keep(ctx context.Context, reply llm.Reply, err error) (llm.Reply, error) {
	if c.Journal == nil {
		return reply, err
	}
	r := record.Record{Kind: record.Completion, Reply: &reply, Error: llm.NewErrorRecord(err)}
	limit, refused := Refusal(err)
	switch {
	case err == nil:
	case len(reply.Attempts) == 0 && limit != "":
		r = record.Record{Kind: record.Refusal, Limit: limit}
	case !c.books.Begun() && len(reply.Attempts) == 0 && (refused || ctx.Err() != nil):
		return reply, err // it was not begun, so there is nothing to account for
	case ctx.Err() != nil || refused && limit == "" || Fatal(err):
		// The run ends by this. Recorded as a failure it would be recalled, and end every later incarnation too.
		r.Kind, r.Prompt = record.Abandoned, SizeOf(c.req).Prompt
	default:
		r.Kind, r.Prompt, r.Alone, r.Limit = record.Failure, SizeOf(c.req).Prompt, c.bred, limit
	}
	if slices.ContainsFunc(reply.Attempts, func(a llm.Attempt) bool { return a.Usage == nil }) {
		r.Prompt = SizeOf(c.req).Prompt // by which what they cost is bounded
	}
	r.Asked = c.asks.Told()
	if bad := c.Journal.Write(c.id, r); bad != nil {
		return reply, errors.Join(bad, err) // the reply too: its attempts were paid for, and belong in the result
	}
	return reply, err
}

// Both returns a function that calls a and b, and whose result calls theirs. The run's queue has to count a call
// that waits, and a Trace of the caller's has to hear of it too.
func Both(a, b func() func()) func() func() {
	return func() func() {
		x, y := a(), b()
		return func() { x(); y() }
	}
}
