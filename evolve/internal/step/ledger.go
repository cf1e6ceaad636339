package step

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// Amounts are what the limits of a budget count. A Ledger counts Stalls apart, as nothing can be set aside for one.
type Amounts = books.Amounts

// Answered reports whether a call that made these attempts brought an answer, as a budget counts them.
func Answered(attempts []llm.Attempt) bool { return llm.ClassOf(attempts) == llm.Real }

// Limits are what a Ledger keeps.
type Limits struct {
	// Passed returns the limit that the amounts would pass, or "". Of several it always returns the same, so that replay
	// names the same one.
	Passed func(Amounts) string
	Stalls int           // attempts that may stall; negative means no limit
	Shown  books.Amounts // the limits as an observer is told of them
	Prices Prices
}

// A Ledger keeps a run within the limits of its budget that are used up call by call and evaluation by
// evaluation. An attempt sets aside the most it can cost when it has left every queue, and settles with what
// it used when it ends. An attempt that does not fit beside what is set aside waits, and sets nothing aside while
// it does. One that would not fit even if all of that were given back is refused, and so is an attempt that another
// call waits for, if it does not fit at once.
//
// So spent + reserved never passes a limit, however many attempts are in flight. What waits in a queue or pauses
// before a retry keeps no room from others.
//
// It is safe for concurrent use.
type Ledger struct {
	Limits

	mu    sync.Mutex
	freed *sync.Cond // signaled when something is settled
	kept  Amounts    // of the limits, for what comes when the run is over
	// spent is used up for good. reserved is set aside for what is under way, and is 0 when nothing is.
	spent, reserved Amounts
	granted         int            // calls of reserved that sessions have and did not make yet
	stalls          int            // attempts; nothing can be set aside for a stall
	stallsAt        map[string]int // the same by endpoint
}

// NewLedger returns a Ledger of a run that has spent nothing. It holds kept back from the limits until [Ledger.Release].
func NewLedger(limits Limits, kept Amounts) *Ledger {
	l := &Ledger{Limits: limits, kept: kept, stallsAt: make(map[string]int)}
	l.freed = sync.NewCond(&l.mu)
	return l
}

// KeptEvalTime returns the time of evaluations that is kept for what comes when the run is over.
func (l *Ledger) KeptEvalTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.EvalTime
}

// Release gives back what was kept.
func (l *Ledger) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = Amounts{}
}

// Reserve sets w aside for an evaluation and waits until it fits. It gives up when ctx ends. It returns
// llm.ErrDraining once drain is closed, but a caller that waits learns that only when another settles. An evaluation is
// not refused because attempts have stalled: what was answered before is paid for, and is scored.
func (l *Ledger) Reserve(ctx context.Context, drain <-chan struct{}, w Amounts) error {
	return l.reserve(ctx, drain, w, nil, false)
}

// reserve is Reserve for an attempt at a call, or an evaluation.
// What a grant has set aside counts as room.
func (l *Ledger) reserve(ctx context.Context, drain <-chan struct{}, w Amounts, g *Grant, attempt bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer context.AfterFunc(ctx, l.wake)()
	for {
		// Draining comes before the limit: a call that is not sent because the run ends must not be recorded as a
		// refusal, which stands for good. It is made when the run goes on.
		switch limit := l.exhausted(w, attempt); {
		case Closed(drain):
			return llm.ErrDraining
		case limit != "":
			return &Refused{Limit: limit}
		case l.over(l.spent.Plus(l.reserved).Plus(w).Minus(g.next(w))) == "":
			taken := g.next(w)
			l.reserved = l.reserved.Plus(w).Minus(taken)
			l.drop(g, taken.Calls)
			return nil
		case g.passes(l):
			l.drop(g, 1)
			l.reserved.Calls--
			continue
		case attempt && l.over(l.spent.Plus(l.reserved).Plus(w).Minus(Amounts{Calls: l.granted})) == "":
			return ErrGranted
		case ctx.Err() != nil:
			return fmt.Errorf("evolve: waiting for the budget: %w", context.Cause(ctx))
		}
		l.freed.Wait()
	}
}

// admit sets w aside at once for an attempt at a call, or refuses it. It is for a call that another one waits for:
// what that one has set aside is freed only after this call has ended, so to wait for room could be to wait for ever.
func (l *Ledger) admit(drain <-chan struct{}, w Amounts) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if Closed(drain) {
		return llm.ErrDraining
	}
	if limit := cmp.Or(l.exhausted(w, true), l.over(l.spent.Plus(l.reserved).Plus(w))); limit != "" {
		return &Refused{Limit: limit}
	}
	l.reserved = l.reserved.Plus(w)
	return nil
}

// wake makes those that wait look again.
func (l *Ledger) wake() {
	l.mu.Lock() // a signal between a waiter's look and its wait would be lost
	defer l.mu.Unlock()
	l.freed.Broadcast()
}

// full returns the limit that leaves no room for an attempt that costs w even if all that is set aside is given back,
// or "".
func (l *Ledger) full(w Amounts) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exhausted(w, true)
}

// UsedUp returns the limit that leaves no room for a call even with an empty prompt, or "".
func (l *Ledger) UsedUp() string { return l.full(l.Prices.Least(Size{})) }

// exhausted is full for an attempt or an evaluation. l.mu is held.
func (l *Ledger) exhausted(w Amounts, attempt bool) string {
	if attempt && l.Stalls >= 0 && l.stalls > l.Stalls {
		return "Stalls"
	}
	return l.over(l.spent.Plus(w))
}

// over returns the limit that a would pass beside what is kept, or "". l.mu is held.
func (l *Ledger) over(a Amounts) string { return l.Passed(a.Plus(l.kept)) }

// Settle gives back what was set aside and books what was used.
func (l *Ledger) Settle(set, used Amounts) { l.settle(set, used, nil) }

// settle is Settle, and books the endpoints of attempts that stalled. It does all under one lock. Between the two,
// another attempt would find room that is already spent.
func (l *Ledger) settle(set, used Amounts, stalls []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved = l.reserved.Minus(set)
	l.spent = l.spent.Plus(used)
	l.stalls += len(stalls)
	for _, endpoint := range stalls {
		l.stallsAt[endpoint]++
	}
	l.freed.Broadcast()
}

// Book books a whole call that was made in an earlier incarnation.
func (l *Ledger) Book(of Size, attempts []llm.Attempt) {
	used, stalls := l.Prices.Used(of, attempts)
	if Answered(attempts) {
		used.Calls = 1
	}
	l.settle(Amounts{}, used, stalls)
}

// BookAttempts books what calls cost that earlier incarnations abandoned. They are made again, and paid for twice. So a
// run that is interrupted often cannot spend more than one that is not.
func (l *Ledger) BookAttempts(records []record.Record) {
	for _, r := range records {
		used, stalls := l.Prices.Used(Size{Prompt: r.Prompt}, r.Reply.Attempts)
		l.settle(Amounts{}, used, stalls)
	}
}

// Sums returns what is spent for good, and what is set aside.
func (l *Ledger) Sums() (spent, reserved Amounts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent, l.reserved
}

// Record returns the ledger for a record of the journal.
func (l *Ledger) Record() books.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.record()
}

func (l *Ledger) record() books.Ledger {
	t := books.Ledger{Spent: l.spent, Reserved: l.reserved}
	t.Spent.Stalls = l.stalls
	if l.reserved.Calls == 0 { // what sums of fractions leave
		t.Reserved.FLOPs, t.Reserved.Money = 0, 0
	}
	t.Reserved.FLOPs, t.Reserved.Money = max(0, t.Reserved.FLOPs), max(0, t.Reserved.Money)
	return t
}

// Observed returns the ledger for an observer.
func (l *Ledger) Observed() books.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.record()
	t.Limit = l.Shown
	t.StallsAt = maps.Clone(l.stallsAt) // the observer's goroutine may not be the one that settles
	return t
}
