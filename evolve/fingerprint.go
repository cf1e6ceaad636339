package evolve

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// fingerprint is what a run is given that decides it, as far as it prints itself.
func (c Config) fingerprint() journal.Fingerprint {
	f := c.Budget.fingerprint()
	f["policy"], f["arms"], f["seed"], f["in_flight"] = c.policy(), fmt.Sprint(len(c.Arms)), fmt.Sprint(c.Seed), fmt.Sprint(c.InFlight)
	return f
}

// policy is the policy as it prints itself, or else its type: its fields may print otherwise in every process.
func (c Config) policy() string {
	if s, ok := c.Policy.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", c.Policy)
}

// raisable are the limits that end a run from without and decide nothing before: a run that one of them
// ended goes on with a larger one as if it had only paused. Calls and Evaluations decide how many children
// the last generations have; Rounds, RoundsPerArm, Patience and Target what is searched; and a program that
// EvalTime left no room for stays without a score. Those stand.
var raisable = [...]string{"Stalls", "Tokens", "FLOPs", "Money", wallTime}

// raises reports whether now is then but for a larger limit of the given name, which can be raised.
func raises(limit string, then, now journal.Fingerprint) bool {
	if !slices.Contains(raisable[:], limit) {
		return false
	}
	name := "Budget." + limit
	but := maps.Clone(now)
	but[name] = then[name]
	return maps.Equal(then, but) && limitOf(now[name]) > limitOf(then[name])
}

// limitOf returns a limit as a fingerprint holds it, in seconds if it is a time; NaN, which is neither larger
// nor smaller than any, for other text.
func limitOf(text string) float64 {
	if text == noLimit {
		return math.Inf(1)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return math.NaN()
}
