package evolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A ledger keeps a run within the limits of its Budget that are used up call by call and evaluation by
// evaluation. An attempt sets aside the most it can cost when it has left every queue, and settles with what
// it used when it ends. One that does not fit beside what is set aside waits, holding nothing; one that would
// not fit even if all that came to nothing is refused. So no limit is passed however many are in flight, and
// what waits in a queue or pauses before a retry keeps no room from others.
//
// It is safe for concurrent use.
type ledger struct {
	b     Budget
	mu    sync.Mutex
	freed *sync.Cond // signaled when something is settled
	// spent is used up for good, reserved set aside for what is under way.
	spent, reserved amounts
	// blocked is what is set aside for calls whose model waits for another to be asked: it is not given back before
	// that one is sent.
	blocked amounts
	stalls  int // attempts
}

// amounts are what the limits count.
type amounts struct {
	calls       int // that brought an answer
	evaluations int
	tokens      int64
	flops       float64
	money       float64
	eval        time.Duration
}

func (a amounts) plus(b amounts) amounts {
	return amounts{a.calls + b.calls, a.evaluations + b.evaluations, a.tokens + b.tokens, a.flops + b.flops, a.money + b.money, a.eval + b.eval}
}

func (a amounts) minus(b amounts) amounts {
	return amounts{a.calls - b.calls, a.evaluations - b.evaluations, a.tokens - b.tokens, a.flops - b.flops, a.money - b.money, a.eval - b.eval}
}

func newLedger(b Budget) *ledger {
	l := &ledger{b: b}
	l.freed = sync.NewCond(&l.mu)
	return l
}

// over returns the limit that a would pass, or "".
func (l *ledger) over(a amounts) string {
	switch b := l.b; {
	case b.Calls > 0 && a.calls > b.Calls:
		return "Calls"
	case b.Evaluations > 0 && a.evaluations > b.Evaluations:
		return "Evaluations"
	case b.Tokens > 0 && a.tokens > b.Tokens:
		return "Tokens"
	case b.FLOPs > 0 && a.flops > b.FLOPs*(1+slack):
		return "FLOPs"
	case b.Money > 0 && a.money > b.Money*(1+slack):
		return "Money"
	case b.EvalTime > 0 && a.eval > b.EvalTime:
		return "EvalTime"
	}
	return ""
}

// slack is the rounding error allowed to sums of floating-point numbers, relative to their limit.
const slack = 1e-12

// reserve sets w aside, waiting until it fits. It gives up when ctx ends, and with llm.ErrDraining once drain
// is closed and one of those under way has settled. Of an attempt at a call, none is sent any more once too
// many stalled.
//
// An attempt does not wait for what is blocked. It may hold the place in a queue for which the call waits that
// would free it.
func (l *ledger) reserve(ctx context.Context, drain <-chan struct{}, w amounts, attempt bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer context.AfterFunc(ctx, l.wake)()
	for {
		limit := l.over(l.spent.plus(w))
		if attempt && l.stalled() {
			limit = "Stalls"
		}
		switch {
		case closed(drain):
			return llm.ErrDraining
		case limit != "":
			return &refusedError{limit}
		case l.over(l.spent.plus(l.reserved).plus(w)) == "":
			l.reserved = l.reserved.plus(w)
			return nil
		case attempt && l.over(l.spent.plus(l.blocked).plus(w)) != "":
			return &refusedError{l.over(l.spent.plus(l.blocked).plus(w))}
		case ctx.Err() != nil:
			return fmt.Errorf("evolve: waiting for the budget: %w", context.Cause(ctx))
		}
		l.freed.Wait()
	}
}

// block notes that what is set aside is blocked, until unblock.
func (l *ledger) block(set amounts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked = l.blocked.plus(set)
	l.freed.Broadcast()
}

func (l *ledger) unblock(set amounts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked = l.blocked.minus(set)
}

// wake lets those that wait look again.
func (l *ledger) wake() {
	l.mu.Lock() // not between a waiter's look and its wait
	defer l.mu.Unlock()
	l.freed.Broadcast()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// full returns the limit that leaves no room for w even if all that is set aside came to nothing, or "".
func (l *ledger) full(w amounts) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stalled() {
		return "Stalls"
	}
	return l.over(l.spent.plus(w))
}

// stalled reports whether more attempts stalled than may.
func (l *ledger) stalled() bool {
	most, limited := l.b.stalls()
	return limited && l.stalls > most
}

// settle gives back what was set aside and books what was used, in one go, so that no other attempt finds room
// that is neither free nor spent.
func (l *ledger) settle(set, used amounts, stalls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved = l.reserved.minus(set)
	l.spent = l.spent.plus(used)
	l.stalls += stalls
	l.freed.Broadcast()
}

// worst returns the most that one attempt at req can cost: a token for every byte of the prompt and
// some for its frame, and the cap on new tokens, at the dearest of the run's models.
func (b Budget) worst(req llm.Request) amounts {
	most := amounts{calls: 1}
	for _, m := range b.Models {
		prompt, completion := promptBound(req), newTokens(req.MaxTokens, m)
		most.tokens = max(most.tokens, int64(prompt+completion))
		most.flops = max(most.flops, 2*float64(m.ActiveParams)*float64(prompt+completion))
		most.money = max(most.money,
			m.Price.Cost(llm.Usage{PromptTokens: prompt, CompletionTokens: completion}),
			m.Price.Cost(llm.Usage{PromptTokens: prompt, CachedTokens: prompt, CompletionTokens: completion}))
	}
	return most
}

// promptBound is more than the tokens that any tokenizer makes of a prompt.
func promptBound(req llm.Request) int { return llm.PromptTokens(req.Messages) }

// newTokens is the cap on new tokens that is in force with an override at m.
func newTokens(override *int, m llm.Model) int {
	if override != nil {
		return *override
	}
	return m.WithDefaults().MaxTokens
}

// A size is what of a request decides what it may cost.
type size struct {
	prompt    int  // the most tokens that its prompt has
	maxTokens *int // its override
}

func sizeOf(req llm.Request) size { return size{promptBound(req), req.MaxTokens} }

// used returns what attempts at a request cost: their usage where the server sent it. An attempt that was
// sent, did not fail, and came without usage is taken to have cost the most it can.
func (b Budget) used(req size, attempts []llm.Attempt) (sum amounts, stalls int) {
	for _, a := range attempts {
		if a.Status.Class() == llm.Stall {
			stalls++
		}
		sum = sum.plus(b.usedBy(req, a))
	}
	return sum, stalls
}

func (b Budget) usedBy(req size, a llm.Attempt) amounts {
	m := b.model(a)
	u := llm.Usage{CompletionTokens: a.Streamed}
	switch {
	case a.Usage != nil:
		u = *a.Usage
	case a.Status != llm.Failed && !a.Unsent:
		most := cmp.Or(a.MaxTokens, newTokens(req.maxTokens, m))
		u = llm.Usage{PromptTokens: req.prompt, CompletionTokens: max(most, a.Streamed)}
	}
	u = u.Clean()
	if a.Status == llm.OK || a.Usage != nil { // an answer without usage is not free, as package flops has it
		a.Usage = &u
	}
	cost := flops.Sum(slices.Values([]llm.Attempt{a}), m.ActiveParams, flops.WorstCase)
	return amounts{
		tokens: int64(u.PromptTokens) + int64(u.CompletionTokens),
		flops:  cost.TotalFLOPs,
		money:  m.Price.Cost(u),
	}
}

// earlier books what calls cost that were given up in earlier incarnations and are made again. Both are paid for,
// so a run that is interrupted often cannot spend more than one that is not.
func (l *ledger) earlier(records []journal.Record) {
	for _, r := range records {
		used, stalls := l.b.used(size{prompt: r.Prompt}, r.Reply.Attempts)
		l.settle(amounts{}, used, stalls)
	}
}

// model returns the model that a asked: by its key, or else the first, which is the only one where
// attempts do not say.
func (b Budget) model(a llm.Attempt) llm.Model {
	i := slices.IndexFunc(b.Models, func(m llm.Model) bool { return m.Key == a.Model })
	if len(b.Models) == 0 {
		return llm.Model{}
	}
	return b.Models[max(i, 0)]
}

// A refusedError says that the budget has no room for a call.
type refusedError struct{ limit string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("evolve: the budget's %s has no room for another call", e.limit)
}
