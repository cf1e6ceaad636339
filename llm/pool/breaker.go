package pool

import (
	"cmp"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// The defaults of a [BreakerConfig].
const (
	defaultWindow        = 10
	defaultMinAttempts   = 5
	defaultTripRate      = 0.5
	defaultQuarantine    = 5 * time.Second
	defaultMaxQuarantine = 2 * time.Minute
)

// A BreakerConfig configures when a [Pool] takes an endpoint out, and for how long. The zero value takes one out when
// half of its last ten attempts stalled or failed, at first for five seconds.
//
// Attempts that timed out count as stalls. The refusal of a faulty request (a prompt that is too long, a wrong
// parameter) counts as an answer. A call that its caller canceled does not count. An endpoint that is [llm.Unavailable]
// is taken out at the first such error, and one that answers with Retry-After for as long as it asks, up to
// MaxQuarantine.
//
// After the quarantine one call is sent as a probe. If the probe is answered, the endpoint is back, with a clean slate;
// if not, the next quarantine is twice as long. Calls sent before a quarantine do not count after it.
type BreakerConfig struct {
	Window      int     // number of recent attempts that count; 0 means 10
	MinAttempts int     // attempts needed before the breaker can open; 0 means 5, or Window if that is less
	StallRate   float64 // share of stalls that opens the breaker, in (0, 1]; 0 means 0.5
	FailureRate float64 // share of failures and stalls together that opens it, in (0, 1]; 0 means 0.5

	Quarantine    time.Duration // the first quarantine; 0 means 5 seconds
	MaxQuarantine time.Duration // the longest quarantine; 0 means 2 minutes, or Quarantine if that is more
}

func (c BreakerConfig) withDefaults() BreakerConfig {
	c.Window = cmp.Or(c.Window, defaultWindow)
	c.MinAttempts = cmp.Or(c.MinAttempts, min(defaultMinAttempts, c.Window))
	c.StallRate = cmp.Or(c.StallRate, defaultTripRate)
	c.FailureRate = cmp.Or(c.FailureRate, defaultTripRate)
	c.Quarantine = cmp.Or(c.Quarantine, defaultQuarantine)
	c.MaxQuarantine = cmp.Or(c.MaxQuarantine, max(defaultMaxQuarantine, c.Quarantine))
	return c
}

func (c BreakerConfig) validate() error {
	switch {
	case c.Window < 1:
		return fmt.Errorf("pool: BreakerConfig.Window is %d: need at least 1", c.Window)
	case c.MinAttempts < 1 || c.MinAttempts > c.Window:
		return fmt.Errorf("pool: BreakerConfig.MinAttempts is %d: need 1 to the window's %d", c.MinAttempts, c.Window)
	case !(c.StallRate > 0 && c.StallRate <= 1):
		return fmt.Errorf("pool: BreakerConfig.StallRate is %v: need a share above 0 and at most 1", c.StallRate)
	case !(c.FailureRate > 0 && c.FailureRate <= 1):
		return fmt.Errorf("pool: BreakerConfig.FailureRate is %v: need a share above 0 and at most 1", c.FailureRate)
	case c.Quarantine < 0:
		return fmt.Errorf("pool: BreakerConfig.Quarantine is %v: need a positive duration", c.Quarantine)
	case c.MaxQuarantine < c.Quarantine:
		return fmt.Errorf("pool: BreakerConfig.MaxQuarantine is %v: need at least Quarantine, %v",
			c.MaxQuarantine, c.Quarantine)
	}
	return nil
}

// String prints the configuration, defaults included.
func (c BreakerConfig) String() string {
	c = c.withDefaults()
	return fmt.Sprintf("out at %g stalled or %g failed of %d to %d, for %v to %v",
		c.StallRate, c.FailureRate, c.MinAttempts, c.Window, c.Quarantine, c.MaxQuarantine)
}

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
	cfg    BreakerConfig
	health Health
	epoch  int         // number of openings; verdicts of other epochs are ignored
	recent []llm.Class // of the last attempts, at most Window
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
		b.open(now, min(v.rest, b.cfg.MaxQuarantine), v)
	case v.gone, probe && v.err != nil:
		b.nap = min(max(2*b.nap, b.cfg.Quarantine), b.cfg.MaxQuarantine)
		b.open(now, b.nap, v)
	case probe:
		b.health, b.nap, b.err, b.gone = Healthy, 0, nil, false
	default:
		b.push(v.classes)
		if v.err != nil && b.tripped() { // an answer never opens the breaker
			b.nap = b.cfg.Quarantine
			b.open(now, b.nap, v)
		}
	}
}

func (b *breaker) open(now time.Time, d time.Duration, v verdict) {
	b.epoch++
	b.health, b.until, b.recent = Quarantined, now.Add(d), nil
	b.err, b.gone = v.err, v.gone
}

func (b *breaker) push(classes []llm.Class) {
	b.recent = append(b.recent, classes...)
	if over := len(b.recent) - b.cfg.Window; over > 0 {
		b.recent = append(b.recent[:0], b.recent[over:]...)
	}
}

func (b *breaker) tripped() bool {
	n, stalls, bad := len(b.recent), 0, 0
	for _, c := range b.recent {
		switch c {
		case llm.Stall:
			stalls, bad = stalls+1, bad+1
		case llm.Errored:
			bad++
		}
	}
	return n >= b.cfg.MinAttempts &&
		(float64(stalls) >= b.cfg.StallRate*float64(n) || float64(bad) >= b.cfg.FailureRate*float64(n))
}
