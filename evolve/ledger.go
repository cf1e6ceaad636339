package evolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A ledger keeps a run within the limits of its Budget that are used up call by call and evaluation by
// evaluation. An attempt sets aside the most it can cost when it has left every queue, and settles with what
// it used when it ends. An attempt that does not fit beside what is set aside waits, and sets nothing aside while
// it does. One that would not fit even if all of that were given back is refused, and so is an attempt that another
// call waits for, if it does not fit at once.
//
// So spent + reserved never passes a limit, however many attempts are in flight. What waits in a queue or pauses
// before a retry keeps no room from others.
//
// It is safe for concurrent use.
type ledger struct {
	b     Budget
	kept  amounts // of the limits, for what comes when the run is over
	mu    sync.Mutex
	freed *sync.Cond // signaled when something is settled
	// spent is used up for good. reserved is set aside for what is under way, and is 0 when nothing is.
	spent, reserved amounts
	stalls          int            // attempts; nothing can be set aside for a stall
	stallsAt        map[string]int // the same by endpoint
}

func newLedger(b Budget, kept amounts) *ledger {
	l := &ledger{b: b, kept: kept, stallsAt: make(map[string]int)}
	l.freed = sync.NewCond(&l.mu)
	return l
}

// over returns the limit that a would pass, or "". Of several it returns the first of the table, so that replay names the
// same one.
func (l *ledger) over(a amounts) string {
	a = a.plus(l.kept)
	for i := range limits {
		if row := &limits[i]; row.passed != nil && row.passed(l.b, a) {
			return row.Name
		}
	}
	return ""
}

// keptEvalTime returns the time of evaluations that is kept for what comes when the run is over.
func (l *ledger) keptEvalTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.EvalTime
}

// release gives back what was kept.
func (l *ledger) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = amounts{}
}

// reserve sets w aside and waits until it fits. It gives up when ctx ends. It returns llm.ErrDraining once drain
// is closed, but a caller that waits learns that only when another settles. attempt says that w is for an
// attempt at a call, which is refused once too many have stalled. Evaluations are not: what was answered before
// is paid for, and is scored.
func (l *ledger) reserve(ctx context.Context, drain <-chan struct{}, w amounts, attempt bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer context.AfterFunc(ctx, l.wake)()
	for {
		// Draining comes before the limit: a call that is not sent because the run ends must not be recorded as a
		// refusal, which stands for good. It is made when the run goes on.
		switch limit := l.exhausted(w, attempt); {
		case closed(drain):
			return llm.ErrDraining
		case limit != "":
			return &refusedError{limit}
		case l.over(l.spent.plus(l.reserved).plus(w)) == "":
			l.reserved = l.reserved.plus(w)
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("evolve: waiting for the budget: %w", context.Cause(ctx))
		}
		l.freed.Wait()
	}
}

// admit sets w aside at once for an attempt at a call, or refuses it. It is for a call that another one waits for:
// what that one has set aside is freed only after this call has ended, so to wait for room could be to wait for ever.
func (l *ledger) admit(drain <-chan struct{}, w amounts) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if closed(drain) {
		return llm.ErrDraining
	}
	if limit := cmp.Or(l.exhausted(w, true), l.over(l.spent.plus(l.reserved).plus(w))); limit != "" {
		return &refusedError{limit}
	}
	l.reserved = l.reserved.plus(w)
	return nil
}

// wake makes those that wait look again.
func (l *ledger) wake() {
	l.mu.Lock() // a signal between a waiter's look and its wait would be lost
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

// full returns the limit that leaves no room for an attempt that costs w even if all that is set aside is given back,
// or "".
func (l *ledger) full(w amounts) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exhausted(w, true)
}

// exhausted is full for an attempt or an evaluation. l.mu is held.
func (l *ledger) exhausted(w amounts, attempt bool) string {
	if attempt && l.stalled() {
		return "Stalls"
	}
	return l.over(l.spent.plus(w))
}

// stalled reports whether more attempts have stalled than the budget allows.
func (l *ledger) stalled() bool {
	most, limited := l.b.stalls()
	return limited && l.stalls > most
}

// settle gives back what was set aside and books what was used, and the endpoints of attempts that stalled. It does
// both under one lock. Between the two, another attempt would find room that is already spent.
func (l *ledger) settle(set, used amounts, stalls []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved = l.reserved.minus(set)
	l.spent = l.spent.plus(used)
	l.stalls += len(stalls)
	for _, endpoint := range stalls {
		l.stallsAt[endpoint]++
	}
	l.freed.Broadcast()
}

// told returns the ledger for a record of the journal.
func (l *ledger) told() journal.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := journal.Ledger{Spent: journal.Amounts(l.spent), Reserved: journal.Amounts(l.reserved)}
	t.Spent.Stalls = l.stalls
	if l.reserved.Calls == 0 { // what sums of fractions leave
		t.Reserved.FLOPs, t.Reserved.Money = 0, 0
	}
	t.Reserved.FLOPs, t.Reserved.Money = max(0, t.Reserved.FLOPs), max(0, t.Reserved.Money)
	return t
}

// observed returns the ledger for an observer.
func (l *ledger) observed() journal.Ledger {
	t := l.told()
	t.Limit = l.b.limit()
	l.mu.Lock()
	defer l.mu.Unlock()
	t.StallsAt = maps.Clone(l.stallsAt) // the observer's goroutine may not be the one that settles
	return t
}

// limit returns the limits that a ledger keeps.
func (b Budget) limit() journal.Amounts {
	stalls, _ := b.stalls()
	return journal.Amounts{Calls: b.Calls, Evaluations: b.Evaluations, Stalls: stalls, Tokens: b.Tokens, FLOPs: b.FLOPs, Money: b.Money, EvalTime: b.EvalTime, TuneEvaluations: b.TuneEvaluations}
}

// worst returns the most that one attempt at req can cost: a token for every byte of the prompt and
// some for its frame, and the cap on new tokens, at the dearest of the run's models. Which model answers is not
// known before: an ensemble or a pool chooses when the call is sent.
//
// The price of the prompt is computed with and without the cache, because a price list may make either dearer.
func (b Budget) worst(req llm.Request) amounts {
	most := amounts{Calls: 1}
	for _, m := range b.Models {
		prompt, completion := promptBound(req), newTokens(req.MaxTokens, m)
		most.Tokens = max(most.Tokens, int64(prompt+completion))
		most.FLOPs = max(most.FLOPs, 2*float64(m.ActiveParams)*float64(prompt+completion))
		most.Money = max(most.Money,
			m.Price.Cost(llm.Usage{PromptTokens: prompt, CompletionTokens: completion}),
			m.Price.Cost(llm.Usage{PromptTokens: prompt, CachedTokens: prompt, CompletionTokens: completion}))
	}
	return most
}

// promptBound returns a number of tokens that no tokenizer passes for this prompt. An estimate that is right on
// average would be too low for half of the prompts, and then the limit would be passed.
func promptBound(req llm.Request) int { return llm.PromptTokens(req.Messages) }

// newTokens returns the cap on new tokens that is in force: the request's override, or else the model's.
func newTokens(override *int, m llm.Model) int {
	if override != nil {
		return *override
	}
	return m.WithDefaults().MaxTokens
}

// A size is what decides how much a request may cost. The journal keeps it for calls that were given up, instead
// of the request.
type size struct {
	prompt    int  // the most tokens that its prompt has
	maxTokens *int // its override
}

func sizeOf(req llm.Request) size { return size{promptBound(req), req.MaxTokens} }

// used returns what attempts at a request cost, and the endpoints of those that stalled. That is their usage where the
// server sent it. An attempt that was sent, did not fail, and came without usage is taken to have cost the most
// it can: a server that keeps usage to itself would otherwise run for ever.
func (b Budget) used(req size, attempts []llm.Attempt) (sum amounts, stalls []string) {
	for _, a := range attempts {
		if a.Status.Class() == llm.Stall {
			stalls = append(stalls, a.Endpoint)
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
	u = u.Clean() // no negative count, with which a server could win budget back
	// Package flops takes an answer without usage as free, as the paper does. A budget must not.
	if a.Status == llm.OK || a.Usage != nil {
		a.Usage = &u
	}
	cost := flops.Sum(slices.Values([]llm.Attempt{a}), m.ActiveParams, flops.WorstCase)
	return amounts{
		Tokens: int64(u.PromptTokens) + int64(u.CompletionTokens),
		FLOPs:  cost.TotalFLOPs,
		Money:  m.Price.Cost(u),
	}
}

// earlier books what calls cost that earlier incarnations gave up. They are made again, and paid for twice. So a
// run that is interrupted often cannot spend more than one that is not.
func (l *ledger) earlier(records []journal.Record) {
	for _, r := range records {
		used, stalls := l.b.used(size{prompt: r.Prompt}, r.Reply.Attempts)
		l.settle(amounts{}, used, stalls)
	}
}

// model returns the model that a asked, by its key. If the attempt names none, it is the first: only a run with
// one model leaves it out.
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
