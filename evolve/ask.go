package evolve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// Ask is l.Generate within the budget of the run whose Step ctx comes from: what the call may cost is
// set aside before it is sent, and what it did cost is booked. Searches of your own use it instead of
// l.Generate. An error that says the budget has no room, or that the run is coming to an end, means
// that nothing was sent; [Refused] tells which. Once there was no room the run draws no more pulls,
// whether Step returns the error or makes do.
func Ask(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
	ctx, h := withHold(ctx, req)
	// A journal admits a call only if it is not in the file.
	if !journaled(l) {
		if err := admit(ctx, req); err != nil {
			return llm.Reply{}, noted(ctx, err)
		}
	}
	reply, err := l.Generate(ctx, req)
	h.settle(reply.Attempts, err)
	return reply, noted(ctx, err)
}

// refusals keeps which limits left no room in one step, so that the run ends also where a search goes on
// without what it asked for. It is safe for concurrent use.
type refusals struct {
	mu    sync.Mutex
	limit string // the first by name, whichever came first, so that replay says the same
}

// refusalsKey is the context's key for the refusals of a step.
type refusalsKey struct{}

func (r *refusals) first() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit
}

// noted returns err, and notes it if it is a refusal.
func noted(ctx context.Context, err error) error {
	var refused *refusedError
	if r, ok := ctx.Value(refusalsKey{}).(*refusals); ok && errors.As(err, &refused) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.limit == "" || refused.limit < r.limit {
			r.limit = refused.limit
		}
	}
	return err
}

// Refused reports whether err says that a call was not sent because the run's budget has no room for
// it (the field of Budget is in limit) or because the run is coming to an end (limit is "").
func Refused(err error) (limit string, refused bool) {
	var r *refusedError
	if errors.As(err, &r) {
		return r.limit, true
	}
	return "", errors.Is(err, llm.ErrDraining)
}

// journaled reports whether l, or what it wraps, is a journal's.
func journaled(l llm.LLM) bool {
	_, ok := llm.As[*journaledLLM](l)
	return ok
}

// A hold is what one call has set aside. One goroutine owns it until it is settled.
type hold struct {
	l     *ledger
	req   llm.Request
	set   amounts
	first bool // the first attempt is admitted
	free  bool // what it cost is booked already
}

type (
	holdKey   struct{}
	ledgerKey struct{}
)

// withLedger returns ctx for the steps of a run that is kept within l.
func withLedger(ctx context.Context, l *ledger) context.Context {
	return context.WithValue(ctx, ledgerKey{}, l)
}

// withHold returns ctx for one call of Generate within the budget of the run, and its hold, nil where
// there is none.
func withHold(ctx context.Context, req llm.Request) (context.Context, *hold) {
	l, _ := ctx.Value(ledgerKey{}).(*ledger)
	if l == nil {
		return ctx, nil
	}
	h := &hold{l: l, req: req}
	ctx = context.WithValue(ctx, holdKey{}, h)
	return llm.WithTrace(ctx, &llm.Trace{Again: func(ctx context.Context, _ llm.Request) error { return h.again(ctx) }}), h
}

// admit sets aside what the first attempt of the call under way in ctx can cost. It may have to wait for
// that until the run is coming to an end.
func admit(ctx context.Context, req llm.Request) error {
	if err := llm.TraceOf(ctx).Draining(); err != nil {
		return err
	}
	h, _ := ctx.Value(holdKey{}).(*hold)
	if h == nil || h.first {
		return nil
	}
	w := h.l.b.worst(req)
	if err := h.l.reserveCall(ctx, w, true); err != nil {
		return err
	}
	if err := llm.TraceOf(ctx).Draining(); err != nil {
		h.l.settle(w, amounts{}, 0)
		return err
	}
	h.first, h.set = true, w
	return nil
}

// again sets aside what one more attempt can cost. It does not wait: two calls that each hold
// something and wait for the other's would wait for ever. Without room beside what is in flight the call
// has failed, but the budget is not at its end, so the error is none for which [Refused] is true.
func (h *hold) again(ctx context.Context) error {
	w := h.l.b.worst(h.req)
	err := h.l.reserveCall(ctx, w, false)
	var refused *refusedError
	if errors.As(err, &refused) {
		return fmt.Errorf("evolve: the budget's %s has no room for another attempt now", refused.limit)
	}
	if err == nil {
		h.set = h.set.plus(w)
	}
	return err
}

// settle books what the call's attempts used. An answer that tells of no attempts is taken to have cost
// the most it can.
func (h *hold) settle(attempts []llm.Attempt, err error) {
	switch {
	case h == nil || h.free:
		return
	case len(attempts) == 0 && err == nil:
		h.l.settle(h.set, h.l.b.worst(h.req), 0)
	default:
		used, stalls := h.l.b.used(sizeOf(h.req), attempts)
		h.l.settle(h.set, used, stalls)
	}
	h.set = amounts{}
}

// recallKey is the context's key for where to say that a call was recalled from a journal.
type recallKey struct{}

// withRecall returns ctx for one call, which sets recalled if a journal gives its reply from an earlier
// life.
func withRecall(ctx context.Context, recalled *bool) context.Context {
	return context.WithValue(ctx, recallKey{}, recalled)
}

// recalled says that the call under way in ctx came from a journal.
func recalled(ctx context.Context) {
	if r, ok := ctx.Value(recallKey{}).(*bool); ok {
		*r = true
	}
}
