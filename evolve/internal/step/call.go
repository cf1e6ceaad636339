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
	own    bool   // its search counts failures in a row itself
	within *Asked // the evaluation that asks; nil for none
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
	reply, err := s.ask(ctx, purpose{kind: kind, bred: s != nil && s.session != ""}, l, req)
	return reply.Reply, err
}

// AskForChild asks l for a child of a Breeder, which counts failures in a row itself.
func (s *Step) AskForChild(ctx context.Context, l llm.LLM, req llm.Request) (Answer, error) {
	return s.ask(ctx, purpose{kind: KindChild, bred: true, own: true}, l, req)
}

// Within returns ctx for a step, in which llm.Ask goes through s. Code that has no Turn at hand, such as an
// operator's helper, calls llm.Ask. Its calls are then in the budget, the journal and the result too.
func (s *Step) Within(ctx context.Context) context.Context {
	return llm.WithTrace(ctx, &llm.Trace{Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		return s.Ask(ctx, "other", l, req)
	}})
}

// mostFailures is how many calls in a row may fail in a search that does not count its failures itself, as a Breeder
// does. Failed calls do not count in Budget.Calls. Without this bound a search that goes on after each error would
// ask a dead endpoint for ever.
const mostFailures = 256

func (s *Step) ask(ctx context.Context, p purpose, l llm.LLM, req llm.Request) (a Answer, err error) {
	if s == nil {
		a.Reply, err = l.Generate(ctx, req)
		return a, err
	}
	if err := s.doomed(); err != nil {
		s.noteError(err)
		return a, err
	}
	// This order is the contract. A call that is in the file is not sent again. A call that the budget has no room
	// for is not sent. No reply is acted on before it is on disk. What was spent is booked however the call ended,
	// which is why Settle stands behind no condition.
	c := s.newCall(p, req)
	reply, recalled, err := c.recall(ctx)
	if err == nil && !recalled {
		heard := c.listen()
		reply, err = c.send(ctx, l)
		reply, err = c.keep(ctx, reply, heard(reply.Attempts, err))
	} else {
		s.silence.Hear(reply.Attempts)
	}
	c.books.Settle(reply.Attempts)
	c.note(reply.Attempts)
	if refusedBy(err) == "" || s.session == "" || s.Ledger.UsedUp() != "" {
		s.noteError(err) // a session's call may be too large for a budget that has room for others
	}
	if p.within == nil { // of a recalled call too, as whoever counts has to count the same when a run is resumed
		llm.TraceOf(ctx).Ended(reply.Attempts)
	}
	if !p.own && !recalled {
		// Noted in the step as well as returned: a search that ignores errors is the one that this is for.
		if bad := s.Failing.Note("model calls", reply.Attempts, err, mostFailures); bad != nil {
			s.end(bad)
			err = bad
		}
	}
	return Answer{reply, c.id, recalled}, err
}

// A call is one call of a step while it is made. Its books say what it has set aside and spent. They alone are used by
// several goroutines, as a model may ask others from goroutines of its own.
//
// How it is answered follows from what the journal has of it, and of the pull or the evaluation that asks:
//
//	in the journal         the pull's end is there   the pull is made, or made again   the run is over
//	Completion, Refusal    recalled                  recalled                          recalled
//	Failure                recalled                  recalled                          recalled
//	Failure that may have  recalled                  booked, and sent                  booked, and given up
//	ended a run (paused)
//	Abandoned              recalled, given up        sent                              recalled, given up
//	Begin, or nothing      ErrDiverged               sent                              given up
//
// Recalled, its attempts are booked as they were. Given up, its error is that of a run that ends. It is sent when
// every decision of earlier incarnations is made again and what they paid for is booked ([Step.awaitLive]), if the
// budget has room, and else refused.
type call struct {
	*Step
	purpose
	req   llm.Request
	id    record.ID // its identity in the journal, if there is one
	books *CallBooks
}

// newCall gives the call its identity: what it asks, and for which pull, session or evaluation. Two arms that ask
// alike at the same time then each get their own answer back when the run is made again, whichever asks first. Its
// place in the step is not part of it, so calls that are made at once are recalled in whatever order they begin. An
// evaluation's calls belong to it and not to a pull, because which of two pulls that ask for it makes it is chance.
func (s *Step) newCall(p purpose, req llm.Request) *call {
	c := &call{Step: s, purpose: p, req: req, books: s.Ledger.Call(req, s.grant)}
	if s.Journal == nil {
		return c
	}
	digest := hexadecimal(req.Digest())
	switch {
	case p.within != nil:
		of := p.within.id
		c.id = s.Journal.Claim(record.KeyOf("evaluation", hexadecimal(of.Key), fmt.Sprint(of.N), digest))
	case s.session != "":
		c.id = s.Journal.Claim(record.KeyOf("session", s.session, digest))
	default:
		c.id = s.Journal.Claim(record.KeyOf("pull", fmt.Sprint(s.Pull), digest))
	}
	return c
}

// hexadecimal returns all digits of a key, of which keys of other things are made.
func hexadecimal(key [32]byte) string { return hex.EncodeToString(key[:]) }

// recall returns how the call ended in an earlier incarnation, or waits until it may be sent.
func (c *call) recall(ctx context.Context) (reply llm.Reply, recalled bool, err error) {
	if c.Journal == nil {
		return llm.Reply{}, false, nil
	}
	if reply, recalled, err = c.recallEnd(); recalled || err != nil {
		return reply, recalled, err
	}
	var wait error
	if !c.Past.Ended {
		if wait = c.awaitLive(ctx); wait == nil {
			return llm.Reply{}, false, nil
		}
	}
	// The search gave it up and did without it, and does so again: its result must have the same attempts.
	r, err := c.Journal.RecallAbandoned(c.id)
	switch {
	case err != nil || r == nil && wait != nil:
		return llm.Reply{}, false, errors.Join(wait, err)
	case r == nil: // to send it would pay for a pull that is over and reported
		return llm.Reply{}, false, c.Journal.Diverged(c.Pull, c.id)
	}
	c.books.AttemptsBooked() // when the run began
	if wait != nil {
		return *r.Reply, true, &Abandoned{Then: r.Error.Err(), Now: wait}
	}
	return *r.Reply, true, r.Error.Err()
}

// recallEnd returns how the call ended, if the journal holds that and it stands.
func (c *call) recallEnd() (reply llm.Reply, recalled bool, err error) {
	c.arrears.RLock()
	defer c.arrears.RUnlock()
	r, stands, err := c.Journal.Recall(c.id, c.Past.Ended)
	switch {
	case r == nil || err != nil:
		return llm.Reply{}, false, err
	case r.Kind == record.Refusal:
		// It is refused again even if there is room now: what the search did next, it did without this call.
		return llm.Reply{}, true, &Refused{Limit: r.Limit}
	}
	size := SizeOf(c.req)
	size.Prompt = max(size.Prompt, r.Prompt) // of what its model asked
	c.bookRecalled(size, r.Reply.Attempts)
	made, err := c.recallAsked(r.Asked) // what its model asked has records of its own in journals of earlier versions
	if c.noteCalls(made...); err != nil {
		return llm.Reply{}, false, err
	}
	if !stands { // it was paid for, and so is the call made now
		return llm.Reply{}, false, nil
	}
	c.books.Booked()
	if err = r.Error.Err(); r.Limit != "" { // it had no room for another attempt, and is refused that now too
		err = &Abandoned{Then: err, Now: errors.Join(&Refused{Limit: r.Limit}, err)}
	}
	return *r.Reply, true, err
}

// listen begins the call for the run's count of calls without an answer. The func that it returns ends it there, with
// the call's error or that of a run that hears nothing. The failure of a call within an evaluation is for that to
// judge.
func (c *call) listen() (heard func([]llm.Attempt, error) error) {
	if c.within == nil {
		return c.silence.Begin()
	}
	return func(attempts []llm.Attempt, err error) error {
		c.silence.Hear(attempts)
		return err
	}
}

// note keeps the call for the result, and for the record of what asked for it.
func (c *call) note(attempts []llm.Attempt) {
	of := record.Asked{Kind: c.kind, Key: c.id.String(), N: c.id.N, Prompt: c.books.Prompt()}
	made := Call{Kind: c.kind, Attempts: attempts}
	if c.within != nil {
		c.within.add(of, made)
		return
	}
	if c.session != "" {
		c.mu.Lock()
		c.asked = append(c.asked, of)
		c.mu.Unlock()
	}
	made.Child = c.child
	c.noteCalls(made)
}

// recallAsked returns the calls that the file has of those that an evaluation or a session made, which is recalled
// itself. The caller has read-locked arrears.
func (s *Step) recallAsked(list []record.Asked) (made []Call, err error) {
	for _, of := range list {
		r, err := s.Journal.RecallAsked(of)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			continue
		case r.Kind == record.Refusal: // who asked may have made do without
			s.noteError(&Refused{Limit: r.Limit})
			continue
		case r.Kind != record.Abandoned: // which is booked when the run begins
			s.bookRecalled(Size{Prompt: of.Prompt}, r.Reply.Attempts)
		}
		made = append(made, Call{Kind: of.Kind, Attempts: r.Reply.Attempts})
	}
	return made, nil
}

// send makes the call. When an attempt has left every queue, what it may cost is set aside, and the journal records
// that it begins. When it ends, what it did cost is booked, before the next attempt or a pause.
func (c *call) send(ctx context.Context, l llm.LLM) (reply llm.Reply, err error) {
	drain := llm.TraceOf(ctx).Drain
	if Closed(drain) { // so that it need not wait in a queue to learn that it is not sent
		return llm.Reply{}, llm.ErrDraining
	}
	for {
		if bad := Guard("the model's Generate", func() { reply, err = llm.Send(c.traced(ctx), l, c.req) }); bad != nil {
			err = bad
		}
		if !errors.Is(err, ErrGranted) || len(reply.Attempts) > 0 {
			break
		}
		if err = c.Ledger.AwaitGrants(ctx, drain); err != nil {
			return reply, err
		}
	}
	// Cleaned before it is recorded, so that an endpoint cannot fill the journal with what it says of itself, and
	// before it is acted on, so that a resumed run acts on the same text.
	reply = reply.Clean()
	untold := c.books.Untold(c.books.Complete(reply).Attempts)
	// A model may return an answer without an attempt. Such an answer would count in no budget, and a run limited by
	// calls would never end.
	if err == nil && len(reply.Attempts) == 0 {
		if i := slices.IndexFunc(untold, func(a llm.Attempt) bool { return a.Status == llm.OK }); i < 0 {
			reply.Attempts = []llm.Attempt{{Status: llm.OK}}
		} else { // the last one says how the call ended
			untold = append(append(untold[:i:i], untold[i+1:]...), untold[i])
		}
	}
	reply = c.books.Complete(reply)
	reply.Attempts = append(untold, reply.Attempts...)
	return reply, err
}

// traced returns ctx for the call's attempts.
func (c *call) traced(ctx context.Context) context.Context {
	trace := llm.TraceOf(ctx)
	return llm.WithTrace(ctx, &llm.Trace{
		Ask:    c.askWithin,
		Again:  func(context.Context, llm.Request) error { return c.again(trace.Drain) },
		Send:   func(model string) error { return c.begin(ctx, trace.Drain, model) },
		Ended:  c.ended,
		Queued: Both(c.Queued.Begin, trace.Queued),
	})
}

// askWithin asks l for the call's model. The attempts are the call's, whether the model tells of them or not, so the
// reply that it gets has none, or they would count twice. To make it a call of its own, with its own record, was
// dropped: that needs a second account of what belongs to whom. The price is that a call that a kill cut short is made
// again with all that its model had asked.
func (c *call) askWithin(ctx context.Context, l llm.LLM, req llm.Request) (reply llm.Reply, err error) {
	in := &call{Step: c.Step, purpose: c.purpose, req: req, id: c.id, books: c.books.Inner(req)}
	if bad := Guard("the model's Generate", func() { reply, err = llm.Send(in.traced(ctx), l, req) }); bad != nil {
		err = bad
	}
	reply = in.books.Complete(reply.Clean())
	in.books.Settle(reply.Attempts)
	reply.Attempts = nil
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

// begin sets aside what an attempt at a model may cost and records that it is about to be sent, so that after a kill
// the accounts can say how many were on the wire. Room comes first and the record after it: an attempt that is
// refused must not stand in the file as begun, or the next incarnation would count it as lost.
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

// ended books attempts that have ended, and records those that do not end the call. Without this record a kill during
// the pause before a retry, or before the model has its answer, would leave them in no account.
func (c *call) ended(attempts []llm.Attempt) {
	attempts = c.books.Complete(llm.Reply{Attempts: attempts}.Clean()).Attempts // as send cleans those of the reply
	c.books.Ended(attempts)
	if c.Journal == nil || len(attempts) == 0 || Answered(attempts) && c.books.outer == nil {
		return // the record of the call's end has an answered attempt, and comes at once
	}
	// If it cannot be written, neither can the call's end, which reports that.
	r := record.Record{Kind: record.Tried, Reply: &llm.Reply{Attempts: attempts}, Prompt: SizeOf(c.req).Prompt}
	_ = c.Journal.Write(c.id, r)
}

// keep makes durable how the call ended, before anything acts on it. The kind of record decides what a resumed run
// does: see the table at call. A failure that cost a child alone is recalled even after a pause, if another call was
// answered since: the search went on from it.
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
		r.Kind = record.Abandoned
	default:
		r.Kind, r.Alone, r.Limit = record.Failure, c.bred, limit
	}
	if r.Kind != record.Refusal && (err != nil ||
		slices.ContainsFunc(reply.Attempts, func(a llm.Attempt) bool { return a.Usage == nil })) {
		r.Prompt = c.books.Prompt() // by which what they cost is bounded
	}
	if bad := c.Journal.Write(c.id, r); bad != nil {
		return reply, errors.Join(bad, err) // the reply too: its attempts were paid for, and belong in the result
	}
	return reply, err
}

// Both returns a function that calls a and b, and whose result calls theirs. The run's queue has to count a call that
// waits, and a Trace of the caller's has to hear of it too.
func Both(a, b func() func()) func() func() {
	return func() func() {
		x, y := a(), b()
		return func() { x(); y() }
	}
}
