package pool

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A Report holds the counts of a [Pool] and its endpoints so far. It marshals to JSON.
type Report struct {
	Endpoints []EndpointReport `json:"endpoints"` // in the order of the configuration
	Waiting   int              `json:"waiting"`   // calls that have no slot now
	Requeued  int              `json:"requeued"`  // times that a call was sent on to another endpoint
	Events    []Event          `json:"events"`    // the last ones, oldest first, at most 256
}

// An EndpointReport holds the counts of one endpoint. Rates are 0 before the first count. Attempts in flight count only
// in InFlight.
type EndpointReport struct {
	Name     string `json:"name"`
	Health   Health `json:"health"`
	Why      string `json:"why,omitempty"` // what took it out; "" if it is healthy
	Slots    int    `json:"places"`
	InFlight int    `json:"in_flight"`
	Calls    int    `json:"calls"` // that ended here; a call that is sent on is one here and one there

	// Attempts by class; their sum is the number of attempts.
	OK       int `json:"ok"`
	Stalls   int `json:"stalls"`
	Failures int `json:"failures"`
	Canceled int `json:"canceled"`
	// StallRate and FailureRate are shares of the attempts that were not canceled.
	StallRate   float64 `json:"stall_rate"`
	FailureRate float64 `json:"failure_rate"`

	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"` // as reported, or else as seen streamed
	// TokensPerSecond is CompletionTokens over BusySeconds, the time with a call in flight.
	TokensPerSecond float64 `json:"tokens_per_second"`
	BusySeconds     float64 `json:"busy_seconds"`
	CacheHitRate    float64 `json:"cache_hit_rate"` // CachedTokens over PromptTokens

	Outs   int `json:"outs"`   // times it was taken out
	Probes int `json:"probes"` // calls sent to see whether it is back
}

// An Event is a change in the health of an endpoint.
type Event struct {
	At       time.Time `json:"at"`
	Endpoint string    `json:"endpoint"`
	Event    string    `json:"event"` // "out", "probe" or "back"
	Why      string    `json:"why,omitempty"`
}

// String prints the event in one line.
func (e Event) String() string {
	s := fmt.Sprintf("%s %s %s", e.At.Format(time.TimeOnly), e.Endpoint, e.Event)
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// maxEvents bounds the events in a [Report].
const maxEvents = 256

// endpointStats holds the sums for an EndpointReport.
type endpointStats struct {
	calls, outs, probes        int
	byClass                    [4]int // in the order of Classes
	prompt, cached, completion int
	busy                       time.Duration
}

// add counts a call's attempts.
func (s *endpointStats) add(attempts []llm.Attempt) {
	s.calls++
	for _, a := range attempts {
		s.byClass[slices.Index(llm.Classes(), a.Status.Class())]++
		if a.Usage == nil {
			s.completion += llm.Usage{CompletionTokens: a.Streamed}.Clean().CompletionTokens
			continue
		}
		u := a.Usage.Clean()
		s.prompt += u.PromptTokens
		s.cached += u.CachedTokens
		s.completion += u.CompletionTokens
	}
}

// event records a change.
func (p *Pool) event(now time.Time, e *endpoint, what string, why error) {
	if len(p.events) == maxEvents {
		p.events = append(p.events[:0], p.events[1:]...)
	}
	ev := Event{At: now, Endpoint: e.name, Event: what}
	if why != nil {
		ev.Why = why.Error()
	}
	p.events = append(p.events, ev)
}

// Report returns a snapshot.
func (p *Pool) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	r := Report{Waiting: p.queue.Len(), Requeued: p.requeued, Events: slices.Clone(p.events)}
	for _, e := range p.ends {
		r.Endpoints = append(r.Endpoints, e.report(now))
	}
	return r
}

func (e *endpoint) report(now time.Time) EndpointReport {
	s := e.stats
	if e.inFlight > 0 {
		s.busy += now.Sub(e.busyFrom)
	}
	r := EndpointReport{
		Name: e.name, Health: e.breaker.health, Slots: e.slots, InFlight: e.inFlight, Calls: s.calls,
		OK: s.byClass[0], Stalls: s.byClass[1], Failures: s.byClass[2], Canceled: s.byClass[3],
		PromptTokens: s.prompt, CachedTokens: s.cached, CompletionTokens: s.completion,
		BusySeconds: s.busy.Seconds(), Outs: s.outs, Probes: s.probes,
	}
	ended := r.OK + r.Stalls + r.Failures
	r.StallRate, r.FailureRate = ratio(r.Stalls, ended), ratio(r.Failures, ended)
	r.CacheHitRate = ratio(s.cached, s.prompt)
	if s.busy > 0 {
		r.TokensPerSecond = float64(s.completion) / s.busy.Seconds()
	}
	if e.breaker.health != Healthy && e.breaker.err != nil {
		r.Why = e.breaker.err.Error()
	}
	return r
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// String prints a table with a line an endpoint.
func (r Report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "endpoint\thealth\tcalls\tin flight\tstalls\tfailures\ttokens/s\tcached\touts\t")
	for _, e := range r.Endpoints {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d of %d\t%.1f%%\t%.1f%%\t%.0f\t%.1f%%\t%d\t\n", e.Name, e.Health, e.Calls,
			e.InFlight, e.Slots, 100*e.StallRate, 100*e.FailureRate, e.TokensPerSecond, 100*e.CacheHitRate, e.Outs)
	}
	w.Flush()
	fmt.Fprintf(&b, "%d waiting, %d sent on\n", r.Waiting, r.Requeued)
	return b.String()
}
