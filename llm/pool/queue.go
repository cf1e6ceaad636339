package pool

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// acquire waits for a slot at an endpoint. A call that returns keeps its turn.
func (p *Pool) acquire(ctx context.Context, c *call) (grant, error) {
	t := llm.TraceOf(ctx)
	if err := cmp.Or(ctx.Err(), t.Draining()); err != nil {
		return grant{}, c.gaveUp(err)
	}
	defer t.Queued()()
	c.ready = make(chan grant, 1)
	p.enqueue(c)
	select {
	case g := <-c.ready:
		return g, g.err
	case <-ctx.Done():
	case <-t.Drain:
	}
	p.withdraw(c)
	return grant{}, c.gaveUp(cmp.Or(ctx.Err(), t.Draining()))
}

func (c *call) gaveUp(why error) error {
	if len(c.names) == 0 {
		return fmt.Errorf("pool: waiting for an endpoint: %w", why)
	}
	return fmt.Errorf("pool: waiting for another endpoint, after %s (%v): %w",
		strings.Join(c.names, ", "), cmp.Or(c.err, c.gone), why)
}

// enqueue appends c to the queue, and serves the calls that can be served.
func (p *Pool) enqueue(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.since = time.Now()
	if c.ticket == 0 {
		p.tickets++
		c.ticket = p.tickets
		c.turn = p.queue.PushBack(c)
	} else {
		p.requeued++
		c.turn = p.insert(c)
	}
	p.dispatch(c.since)
}

// insert queues a returning call by its ticket, which is near the front.
func (p *Pool) insert(c *call) *list.Element {
	for e := p.queue.Front(); e != nil; e = e.Next() {
		if e.Value.(*call).ticket > c.ticket {
			return p.queue.InsertBefore(c, e)
		}
	}
	return p.queue.PushBack(c)
}

// withdraw removes c from the queue, or frees the slot that c was granted meanwhile.
func (p *Pool) withdraw(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if c.turn != nil {
		p.queue.Remove(c.turn)
	} else if g := <-c.ready; g.err == nil {
		g.end.leave(now)
		g.end.breaker.note(now, g.epoch, g.probe, verdict{silent: true})
	}
	p.dispatch(now)
}

// settle takes in the end of a call, frees its slot, and serves the calls that can be served. It reports whether a slot
// is free and no call waits.
func (p *Pool) settle(g grant, attempts []llm.Attempt, v verdict) (idle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, e := time.Now(), g.end
	e.leave(now)
	e.stats.add(attempts)
	e.answered = e.answered || v.there
	epoch, health := e.breaker.epoch, e.breaker.health
	e.breaker.note(now, g.epoch, g.probe, v)
	switch {
	case e.breaker.epoch != epoch:
		e.stats.outs++
		p.event(now, e, "out", v.err)
	case health == Probing && e.breaker.health == Healthy:
		p.event(now, e, "back", nil)
	}
	p.noteOut(now)
	p.dispatch(now)
	return p.queue.Len() == 0 && slices.ContainsFunc(p.ends, func(e *endpoint) bool {
		return e.breaker.health == Healthy && e.inFlight < e.slots
	})
}

// noteOut records since when every endpoint is out.
func (p *Pool) noteOut(now time.Time) {
	switch {
	case p.anyHealthy():
		p.outSince = time.Time{}
	case p.outSince.IsZero():
		p.outSince, p.expires = now, now.Add(max(p.cfg.MaxWait, 0))
	}
}

func (p *Pool) anyHealthy() bool {
	for _, e := range p.ends {
		if e.breaker.health == Healthy {
			return true
		}
	}
	return false
}

// dispatch serves waiting calls in turn, as far as there are slots.
func (p *Pool) dispatch(now time.Time) {
	var next *list.Element
	for at := p.queue.Front(); at != nil && !p.stuck(now); at = next {
		next = at.Next()
		c := at.Value.(*call)
		if g, ok := p.place(c, now); ok {
			p.queue.Remove(at)
			c.turn = nil
			c.ready <- g
		}
	}
	if !p.outSince.IsZero() && !now.Before(p.expires) {
		p.expires = p.nextExpiry(now)
	}
	p.schedule(now)
}

// stuck reports whether no waiting call can be served or failed now. It spares dispatch a pass over thousands of calls.
func (p *Pool) stuck(now time.Time) bool {
	for _, e := range p.ends {
		if e.inFlight < e.slots && (e.breaker.health == Healthy || e.breaker.due(now)) {
			return false
		}
	}
	return p.anyHealthy() || !p.allGone() && now.Before(p.expires)
}

// nextExpiry returns when the first waiting call will have waited for MaxWait.
func (p *Pool) nextExpiry(now time.Time) time.Time {
	next := now.Add(max(p.cfg.MaxWait, 0))
	for at := p.queue.Front(); at != nil; at = at.Next() {
		if t := p.expiry(at.Value.(*call)); t.Before(next) {
			next = t
		}
	}
	return next
}

// schedule wakes the pool when waiting calls may be served or must fail although no call ends.
func (p *Pool) schedule(now time.Time) {
	var next time.Time
	sooner := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, e := range p.ends {
		if e.breaker.health == Quarantined {
			sooner(e.breaker.until)
		}
	}
	if !p.outSince.IsZero() {
		sooner(p.expires)
	}
	switch idle := p.queue.Len() == 0 || next.IsZero(); {
	case idle && p.timer != nil:
		p.timer.Stop()
	case idle:
	case p.timer == nil:
		p.timer = time.AfterFunc(next.Sub(now), p.wake)
	default:
		p.timer.Reset(next.Sub(now))
	}
}

func (p *Pool) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dispatch(time.Now())
}

// expiry returns when c will have waited for MaxWait with every endpoint out.
func (p *Pool) expiry(c *call) time.Time {
	from := c.since
	if p.outSince.After(from) {
		from = p.outSince
	}
	return from.Add(max(p.cfg.MaxWait, 0))
}

// hopeless returns the error of a call for which waiting cannot help, or nil.
func (p *Pool) hopeless(c *call, now time.Time) error {
	if p.anyHealthy() {
		for _, e := range p.ends {
			if e.breaker.health == Healthy && !e.failed(c) {
				return nil
			}
		}
		return c.failure()
	}
	late := !now.Before(p.expiry(c))
	switch {
	case p.allGone(), late && p.allUnavailable():
		return p.unavailable()
	case late:
		return p.allOut()
	}
	return nil
}

// allUnavailable reports whether the last error of every endpoint was Unavailable.
func (p *Pool) allUnavailable() bool {
	for _, e := range p.ends {
		if e.breaker.health != Quarantined || !e.breaker.gone {
			return false
		}
	}
	return true
}

// allGone reports whether no endpoint can be used and none may be restarting.
func (p *Pool) allGone() bool {
	for _, e := range p.ends {
		if err, ok := errors.AsType[*llm.Error](e.breaker.err); e.answered && ok && err.Kind == llm.KindRefused {
			return false
		}
	}
	return p.allUnavailable()
}

// unavailable returns the error of a pool without usable endpoints.
func (p *Pool) unavailable() error {
	text, chain := p.reasons()
	return goneError{"pool: none of the endpoints can be used: " + text, chain}
}

// A goneError is the error of a pool without usable endpoints. It wraps their errors.
type goneError struct {
	text string
	of   []error
}

func (e goneError) Error() string   { return e.text }
func (e goneError) Unwrap() []error { return e.of }

// allOut returns the error if no endpoint came back in time.
func (p *Pool) allOut() error {
	text, _ := p.reasons()
	err := fmt.Errorf("no endpoint of the pool came back within %v: %s", max(p.cfg.MaxWait, 0), text)
	return &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: err}
}

// reasons returns why each endpoint is out.
func (p *Pool) reasons() (text string, chain []error) {
	var each []string
	for _, e := range p.ends {
		why := "it was taken out"
		if err := e.breaker.err; err != nil {
			why, chain = strings.TrimPrefix(err.Error(), "llm: "), append(chain, err)
		}
		each = append(each, e.name+": "+why)
	}
	return strings.Join(each, "; "), chain
}
