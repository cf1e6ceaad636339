package llmtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// A Latency is a distribution of the time between a request's arrival and its answer.
type Latency interface {
	// Draw returns one latency, with r as its only source of chance. A negative latency counts as 0.
	Draw(r *rand.Rand) time.Duration
}

// Constant is the same latency for every request.
type Constant time.Duration

// LogNormal has the heavy tail that completions of very different lengths show:
//
//	X = min(Median · exp(Sigma·Z), Cap), Z standard normal
//
// whose mean without the cap is Median · exp(Sigma²/2).
type LogNormal struct {
	Median time.Duration
	Sigma  float64       // of the logarithm; 0 means that X is always Median
	Cap    time.Duration // 0 means no cap
}

var (
	_ Latency = Constant(0)
	_ Latency = LogNormal{}
)

// Draw returns c.
func (c Constant) Draw(*rand.Rand) time.Duration { return time.Duration(c) }

// String prints the latency as a duration.
func (c Constant) String() string { return "constant " + time.Duration(c).String() }

// Draw returns one X.
func (l LogNormal) Draw(r *rand.Rand) time.Duration {
	x := float64(l.Median) * math.Exp(l.Sigma*r.NormFloat64())
	if l.Cap > 0 {
		x = min(x, float64(l.Cap))
	}
	return time.Duration(min(x, math.MaxInt64/2))
}

// String prints the distribution's parameters.
func (l LogNormal) String() string {
	return fmt.Sprintf("log-normal, median %v, sigma %g, cap %v", l.Median, l.Sigma, l.Cap)
}
