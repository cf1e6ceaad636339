package step

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

// A Grant is what is set aside of the limit on calls for a session that makes many. nil has nothing. Its methods are
// called with the Ledger's lock held.
type Grant struct{ left int }

// next returns what an attempt that sets w aside takes of the grant.
func (g *Grant) next(w Amounts) Amounts {
	if g == nil || g.left == 0 || w.Calls == 0 {
		return Amounts{}
	}
	return Amounts{Calls: 1}
}

// passes reports whether more is set aside than there is, of which g has a part: a session that is made again was granted
// what its answers of an earlier incarnation took, and then these were booked.
func (g *Grant) passes(l *Ledger) bool {
	return g != nil && g.left > 0 && l.over(Amounts{Calls: l.spent.Calls + l.reserved.Calls}) != ""
}

// ErrGranted is returned for an attempt for which there is room once sessions have given back what they do not use. It has
// left its queue, where a session's next call may wait for its place, so it must not wait there itself.
var ErrGranted = errors.New("evolve: sessions have the rest of the budget of calls")

// AwaitGrants waits until there is room for a call beside what sessions have, or none even without.
func (l *Ledger) AwaitGrants(ctx context.Context, drain <-chan struct{}) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer context.AfterFunc(ctx, l.wake)()
	for l.granted > 0 && l.over(l.spent.Plus(l.reserved).Plus(Amounts{Calls: 1})) != "" {
		switch {
		case Closed(drain):
			return llm.ErrDraining
		case ctx.Err() != nil:
			return fmt.Errorf("evolve: waiting for the budget: %w", context.Cause(ctx))
		}
		l.freed.Wait()
	}
	return nil
}

// drop takes n calls, if any, from what is left of a grant.
func (l *Ledger) drop(g *Grant, n int) {
	if n > 0 {
		g.left -= n
		l.granted -= n
	}
}

// Grant sets n calls aside for a session, or as many as are left once nothing else is set aside. It returns how many. So
// it does not depend on the speed of sessions that were granted theirs before.
func (l *Ledger) Grant(ctx context.Context, drain <-chan struct{}, g *Grant, n int) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer context.AfterFunc(ctx, l.wake)()
	for {
		switch {
		case Closed(drain):
			return 0, llm.ErrDraining
		case ctx.Err() != nil:
			return 0, fmt.Errorf("evolve: waiting for the budget: %w", context.Cause(ctx))
		case l.over(l.spent.Plus(l.reserved).Plus(Amounts{Calls: n})) == "" || l.reserved.Calls == 0:
			limit := l.over(l.spent.Plus(Amounts{Calls: 1}))
			if l.set(g, n); g.left == 0 {
				return 0, &Refused{Limit: limit}
			}
			return g.left, nil
		}
		l.freed.Wait()
	}
}

// Again sets aside for a session that is made again what there is of the n calls that it was granted.
func (l *Ledger) Again(g *Grant, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(g, n)
}

// set sets aside n calls, or as many as there is room for. l.mu is held.
func (l *Ledger) set(g *Grant, n int) {
	for n > 0 && l.over(l.spent.Plus(l.reserved).Plus(Amounts{Calls: n})) != "" {
		n--
	}
	g.left = n
	l.granted += n
	l.reserved.Calls += n
}

// GiveBack gives back n calls of a grant, or what is left of it.
func (l *Ledger) GiveBack(g *Grant, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g != nil {
		n = min(n, g.left)
		g.left -= n
		l.granted -= n
		l.reserved.Calls -= n
		l.freed.Broadcast()
	}
}
