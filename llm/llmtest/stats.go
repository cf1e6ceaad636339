package llmtest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Stats are a server's counts at one moment.
type Stats struct {
	Calls       int           `json:"calls"`         // requests that arrived
	InFlight    int           `json:"in_flight"`     // of them, those not yet answered
	MaxInFlight int           `json:"max_in_flight"` // the most at one moment
	Busy        float64       `json:"busy"`          // see Server.Busy
	Held        time.Duration `json:"held"`          // time in flight, summed over requests: the slot-seconds spent
	Latency     time.Duration `json:"latency"`       // latencies drawn, summed
	// Tokens are those of the requests that were not refused, as if each was computed to its end, whatever was reported.
	Tokens Usage `json:"tokens"`
	// Sent is the number of tokens sent in streams.
	Sent int `json:"sent"`
	// Unread is the sum of the departures' Unread.
	Unread int            `json:"unread"`
	Faults map[Fault]int  `json:"faults"` // requests by fault; "" for those without
	Ended  map[string]int `json:"ended"`  // requests by how they ended; those in flight are not in it
	Gone   []departure    `json:"gone"`   // clients that left before their answer was sent, in that order
}

// The ways a request ends, as the server sees it.
const (
	refused   = "refused"    // with an error, at once
	answered  = "answered"   // with an answer that can be used
	spoiled   = "spoiled"    // with one that cannot
	brokenOff = "broken off" // the server closed or reset the connection before the end
	left      = "left"       // the client went away before the end
)

// A departure is a client that left before it had its answer.
type departure struct {
	Ordinal int           `json:"ordinal"` // of the request
	Seed    uint32        `json:"seed"`
	Fault   Fault         `json:"fault"`
	At      time.Time     `json:"at"`    // when the server saw it
	After   time.Duration `json:"after"` // how long after the request's arrival that was
	// Idle is the time from the last bytes sent to the client, or else from the request's arrival, to At.
	Idle     time.Duration `json:"idle"`
	Streamed int           `json:"streamed"` // tokens that were sent to the client
	// Unread is the number of tokens that the server would have generated in vain at Config.Rate during Idle, as servers
	// behind a proxy do until they see the connection closed, up to the request's max_tokens. It is 0 if Rate is 0.
	Unread int `json:"unread"`
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats { return s.meter.stats() }

// Busy returns the time-weighted mean number of requests in flight from the arrival of the first request to that of the
// last, that is, while a client still had requests to send. It is 0 before the second request.
func (s *Server) Busy() float64 { return s.meter.stats().Busy }

// A visit is one request on its way through the server.
type visit struct {
	Ordinal int
	Seed    uint32
	Fault   Fault
	Arrived time.Time
	idle    time.Time // when bytes were last sent
	sent    int       // tokens
	ended   string
	counted bool // whether it is counted and no longer in flight
}

// A meter integrates the number of requests in flight over time. Its area is exact: a sum of
// whole nanoseconds, each counted once for every request in flight.
type meter struct {
	mu      sync.Mutex
	changed *sync.Cond
	s       Stats
	first   time.Time     // arrival of the first request
	sent    time.Time     // arrival of the last one
	event   time.Time     // last arrival or departure
	present int           // running handlers: InFlight, and those whose last bytes are in transit
	area    time.Duration // integral of InFlight from first to event
	atSent  time.Duration // the same from first to sent
}

func newMeter() *meter {
	m := &meter{s: Stats{Faults: make(map[Fault]int), Ended: make(map[string]int)}}
	m.changed = sync.NewCond(&m.mu)
	return m
}

// advance brings the integral up to now. The caller holds mu.
func (m *meter) advance() time.Time {
	now := time.Now()
	if m.s.InFlight > 0 {
		m.area += time.Duration(m.s.InFlight) * now.Sub(m.event)
	}
	m.event = now
	return now
}

func (m *meter) enter() *visit {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.advance()
	if m.s.Calls == 0 {
		m.first = now
	}
	v := &visit{Ordinal: m.s.Calls, Arrived: now, ended: refused}
	m.sent, m.atSent = now, m.area
	m.s.Calls++
	m.s.InFlight++
	m.present++
	m.s.MaxInFlight = max(m.s.MaxInFlight, m.s.InFlight)
	return v
}

// deliver records that n tokens of v's answer have been sent by now.
func (m *meter) deliver(v *visit, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Sent += n - v.sent
	v.sent, v.idle = n, time.Now()
}

// settle counts v, once.
func (m *meter) settle(v *visit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !v.counted {
		m.count(v, 1)
	}
}

// leave settles v when its handler returns.
func (m *meter) leave(v *visit) {
	m.settle(v)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.present--
	m.changed.Broadcast()
}

// takeBack undoes settle.
func (m *meter) takeBack(v *visit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v.counted {
		m.count(v, -1)
	}
}

// count moves v between the requests in flight and the counts. The caller holds mu.
func (m *meter) count(v *visit, n int) {
	m.advance()
	m.s.InFlight -= n
	m.s.Faults[v.Fault] += n
	m.s.Ended[v.ended] += n
	v.counted = n > 0
}

// left records that v's client left.
func (s *Server) left(v *visit, req Request) {
	v.ended = left
	now := time.Now()
	d := departure{Ordinal: v.Ordinal, Seed: v.Seed, Fault: v.Fault, At: now, After: now.Sub(v.Arrived)}
	d.Idle, d.Streamed = now.Sub(v.idle), v.sent
	d.Unread = int(s.cfg.Rate * d.Idle.Seconds())
	if req.MaxTokens != nil {
		d.Unread = max(0, min(d.Unread, *req.MaxTokens-v.sent))
	}
	s.meter.left(d)
}

func (m *meter) left(d departure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Unread += d.Unread
	m.s.Gone = append(m.s.Gone, d)
}

func (m *meter) drew(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Latency += d
}

// used adds a request's tokens to the totals.
func (m *meter) used(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Tokens.PromptTokens += u.PromptTokens
	m.s.Tokens.CachedTokens += u.CachedTokens
	m.s.Tokens.CompletionTokens += u.CompletionTokens
}

func (m *meter) stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance()
	s := m.s
	s.Held, s.Gone = m.area, slices.Clone(s.Gone)
	s.Faults, s.Ended = maps.Clone(s.Faults), maps.Clone(s.Ended)
	if span := m.sent.Sub(m.first); span > 0 {
		s.Busy = float64(m.atSent) / float64(span)
	}
	return s
}

func (m *meter) drain(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.changed.Broadcast()
	})
	defer stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.present > 0 && ctx.Err() == nil {
		m.changed.Wait()
	}
	if m.present > 0 {
		return ctx.Err()
	}
	return nil
}
