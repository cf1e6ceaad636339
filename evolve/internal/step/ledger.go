package step

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
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
	// Passed returns the limit that the amounts would pass, or "". Of several it always returns the same, so that
	// replay names the same one.
	Passed func(Amounts) string
	Stalls int           // attempts that may stall; negative means no limit
	Shown  books.Amounts // the limits as an observer is told of them
	Prices Prices
}

// A Ledger keeps a run within the limits of its budget that are used up call by call and evaluation by evaluation. An
// attempt sets aside the most it can cost when it has left every queue, and settles with what it used when it ends.
// An attempt that does not fit beside what is set aside waits, and sets nothing aside while it does. One that would
// not fit even if all of that were given back is refused.
//
// So spent + reserved never passes a limit, however many attempts are in flight. What waits in a queue or pauses
// before a retry keeps no room from others. A Ledger is safe for concurrent use.
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

// NewLedger returns a Ledger of a run that has spent nothing. It holds kept back from the limits until
// [Ledger.Release].
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

// A want is what is to be set aside.
type want struct {
	Amounts
	grant   *Grant // room that it has already
	attempt bool   // at a call, and not an evaluation
	now     bool   // it is refused where it would have to wait
}

// ErrGranted is returned for an attempt for which there is room once sessions have given back what they do not use.
// It has left its queue, where a session's next call may wait for its place, so it must not wait there itself.
var ErrGranted = errors.New("evolve: sessions have the rest of the budget of calls")

// Reserve sets w aside for an evaluation and waits until it fits. It gives up when ctx ends. It returns
// llm.ErrDraining once drain is closed, but a caller that waits learns that only when another settles. An evaluation
// is not refused because attempts have stalled: what was answered before is paid for, and is scored.
func (l *Ledger) Reserve(ctx context.Context, drain <-chan struct{}, w Amounts) error {
	return l.reserve(ctx, drain, want{Amounts: w})
}

func (l *Ledger) reserve(ctx context.Context, drain <-chan struct{}, w want) error {
	return l.await(ctx, drain, func() (done bool, err error) {
		// A session that is made again was granted what its answers of an earlier incarnation took, and then these
		// were booked: it has that part twice.
		for g := w.grant; g != nil && g.left > 0 && l.over(Amounts{Calls: l.spent.Calls + l.reserved.Calls}) != ""; {
			l.grant(g, -1)
		}
		var own Amounts
		if w.grant != nil && w.grant.left > 0 && w.Calls > 0 {
			own.Calls = 1
		}
		sum := l.spent.Plus(l.reserved).Plus(w.Amounts)
		limit, full := l.exhausted(w.Amounts, w.attempt), l.over(sum.Minus(own))
		switch {
		case limit != "":
			return false, &Refused{Limit: limit}
		case full == "":
			l.grant(w.grant, -own.Calls)
			l.reserved = l.reserved.Plus(w.Amounts)
			return true, nil
		case w.now:
			return false, &Refused{Limit: full}
		case w.attempt && l.over(sum.Minus(Amounts{Calls: l.granted})) == "":
			return false, ErrGranted
		}
		return false, nil
	})
}

// await calls try, with the lock held, until it is done or fails, each time that something was given back.
//
// Draining comes before the limit: a call that is not sent because the run ends must not be recorded as a refusal,
// which stands for good. It is made when the run goes on.
func (l *Ledger) await(ctx context.Context, drain <-chan struct{}, try func() (done bool, err error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer context.AfterFunc(ctx, l.wake)()
	for {
		if Closed(drain) {
			return llm.ErrDraining
		}
		if done, err := try(); done || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("evolve: waiting for the budget: %w", context.Cause(ctx))
		}
		l.freed.Wait()
	}
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

// room reports whether there is room for n calls beside what is set aside. l.mu is held.
func (l *Ledger) room(n int) bool {
	return l.over(l.spent.Plus(l.reserved).Plus(Amounts{Calls: n})) == ""
}

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

// BookAttempts books what calls cost that earlier incarnations abandoned. They are made again, and paid for twice. So
// a run that is interrupted often cannot spend more than one that is not.
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
	t := l.Observed()
	return books.Ledger{Spent: t.Spent, Reserved: t.Reserved}
}

// Observed returns the ledger for an observer, whose goroutine may not be the one that settles.
func (l *Ledger) Observed() books.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := books.Ledger{Spent: l.spent, Reserved: l.reserved, Limit: l.Shown, StallsAt: maps.Clone(l.stallsAt)}
	t.Spent.Stalls = l.stalls
	if l.reserved.Calls == 0 { // what sums of fractions leave
		t.Reserved.FLOPs, t.Reserved.Money = 0, 0
	}
	t.Reserved.FLOPs, t.Reserved.Money = max(0, t.Reserved.FLOPs), max(0, t.Reserved.Money)
	return t
}

// A Grant is what is set aside of the limit on calls for a session that makes many. nil has nothing. It is read and
// written with the Ledger's lock held.
type Grant struct{ left int }

// grant adds n calls to what a session has of what is set aside. l.mu is held.
func (l *Ledger) grant(g *Grant, n int) {
	if g != nil {
		g.left += n
		l.granted += n
		l.reserved.Calls += n
	}
}

// AwaitGrants waits until there is room for a call beside what sessions have, or none even without.
func (l *Ledger) AwaitGrants(ctx context.Context, drain <-chan struct{}) error {
	return l.await(ctx, drain, func() (bool, error) {
		return l.granted == 0 || l.room(1), nil
	})
}

// Grant sets n calls aside for a session, or as many as are left once nothing else is set aside. It returns how many.
// So it does not depend on the speed of sessions that were granted theirs before.
func (l *Ledger) Grant(ctx context.Context, drain <-chan struct{}, g *Grant, n int) (int, error) {
	err := l.await(ctx, drain, func() (bool, error) {
		if !l.room(n) && l.reserved.Calls > 0 {
			return false, nil
		}
		limit := l.over(l.spent.Plus(Amounts{Calls: 1}))
		if n = l.most(n); n == 0 {
			return false, &Refused{Limit: limit}
		}
		l.grant(g, n)
		return true, nil
	})
	return n, err
}

// Again sets aside for a session that is made again what there is of the n calls that it was granted.
func (l *Ledger) Again(g *Grant, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grant(g, l.most(n))
}

// most returns for how many of n calls there is room. l.mu is held.
func (l *Ledger) most(n int) int {
	for n > 0 && !l.room(n) {
		n--
	}
	return n
}

// GiveBack gives back n calls of a grant, or what is left of it.
func (l *Ledger) GiveBack(g *Grant, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g != nil {
		l.grant(g, -min(n, g.left))
		l.freed.Broadcast()
	}
}

// An EvalTime says for how many more children the time for evaluations has room.
type EvalTime struct {
	Left   time.Duration // of the limit
	Worst  time.Duration // the most that one evaluation may take
	Sum    time.Duration // that evaluations of children took so far
	Scored int           // these children
}

// Room returns the number, beside the children that pending pulls were granted. It is 0 if less than Worst is left,
// and else 1 + (left − Worst)/e, with e = (Sum + Worst)/(Scored + 1) for the evaluation of one child. So a run begins
// with few, and is not held back by the worst case for long.
func (t EvalTime) Room(pending []int) int {
	left, each := t.Left, max(1, (t.Sum+t.Worst)/time.Duration(t.Scored+1))
	for _, children := range pending {
		if left < t.Worst {
			break // before the sum passes the least duration
		}
		left -= time.Duration(min(float64(children)*float64(each), math.MaxInt64/4))
	}
	if left < t.Worst {
		return 0
	}
	return 1 + int((left-t.Worst)/each)
}
