package pool

import (
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// When an endpoint is taken out, and for how long.
const (
	breakerWindow      = 10  // recent attempts that count
	breakerMinAttempts = 5   // attempts that it takes
	breakerRate        = 0.5 // share of stalls and failures among them at which it is taken out
	defaultQuarantine  = 5 * time.Second
	longestQuarantine  = 2 * time.Minute // or Config.Quarantine if that is more
)

// A Health is the state of an endpoint in a [Pool].
type Health string

// The states of an endpoint.
const (
	Healthy     Health = "healthy"     // in use: the breaker is closed
	Quarantined Health = "quarantined" // out: the breaker is open
	Probing     Health = "probing"     // out but for one call: the breaker is half open
)

// A breaker decides on one endpoint. It reads no clock, and one goroutine at a time calls it.
type breaker struct {
	first  time.Duration // the first quarantine
	health Health
	epoch  int         // number of openings; verdicts of other epochs are ignored
	recent []llm.Class // of the last attempts, at most breakerWindow
	until  time.Time
	nap    time.Duration // the last quarantine; 0 once the endpoint is back
	err    error         // why it last opened
	gone   bool          // whether err means that the endpoint cannot be used at all
}

// due reports whether a probe may be sent.
func (b *breaker) due(now time.Time) bool {
	return b.health == Quarantined && !now.Before(b.until)
}

// note takes in the verdict of a call sent in the given epoch, as a probe or not.
func (b *breaker) note(now time.Time, epoch int, probe bool, v verdict) {
	switch {
	case epoch != b.epoch:
	case v.silent:
		if probe { // the next call may try
			b.health = Quarantined
		}
		b.push(v.classes)
	case v.rest > 0:
		b.open(now, min(v.rest, b.longest()), v)
	case v.gone, probe && v.err != nil:
		b.nap = min(max(2*b.nap, b.first), b.longest())
		b.open(now, b.nap, v)
	case probe:
		b.health, b.nap, b.err, b.gone = Healthy, 0, nil, false
	default:
		b.push(v.classes)
		if v.err != nil && b.tripped() { // an answer never opens the breaker
			b.nap = b.first
			b.open(now, b.nap, v)
		}
	}
}

// longest returns the longest quarantine.
func (b *breaker) longest() time.Duration { return max(longestQuarantine, b.first) }

func (b *breaker) open(now time.Time, d time.Duration, v verdict) {
	b.epoch++
	b.health, b.until, b.recent = Quarantined, now.Add(d), nil
	b.err, b.gone = v.err, v.gone
}

func (b *breaker) push(classes []llm.Class) {
	b.recent = append(b.recent, classes...)
	if over := len(b.recent) - breakerWindow; over > 0 {
		b.recent = append(b.recent[:0], b.recent[over:]...)
	}
}

func (b *breaker) tripped() bool {
	n, bad := len(b.recent), 0
	for _, c := range b.recent {
		if c == llm.Stall || c == llm.Errored {
			bad++
		}
	}
	return n >= breakerMinAttempts && float64(bad) >= breakerRate*float64(n)
}
