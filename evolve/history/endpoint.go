package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// An Endpoint is a server of models and how the attempts at it ended.
type Endpoint struct {
	Name     string         // [onlyEndpoint] where attempts name none
	Statuses map[string]int // attempts by how they ended, failures with their kind
	Errors   []*Note

	latencies []time.Duration // of answered attempts: the last ones
	next      int             // of latencies, the one to be replaced
	index     notes
}

// onlyEndpoint names the endpoint of attempts that name none: there is one then.
const onlyEndpoint = "the endpoint"

// The most that is kept of endpoints: how many there are, and of how many answers the median latency is taken.
const (
	mostEndpoints = 100
	mostLatencies = 1 << 10
)

// Latency returns the median of answered attempts, 0 without one.
func (e *Endpoint) Latency() time.Duration {
	if len(e.latencies) == 0 {
		return 0
	}
	t := slices.Sorted(slices.Values(e.latencies))
	return (t[(len(t)-1)/2] + t[len(t)/2]) / 2
}

// asked takes in how an attempt ended.
func (b *builder) asked(a llm.Attempt) {
	name := cmp.Or(Name(a.Endpoint), onlyEndpoint)
	i, known := b.endpoints[name]
	if !known {
		if i = len(b.run.Endpoints); i >= mostEndpoints {
			return
		}
		b.endpoints[name] = i
		b.run.Endpoints = append(b.run.Endpoints, Endpoint{Name: name, Statuses: map[string]int{}, index: notes{}})
	}
	e := &b.run.Endpoints[i]
	status := statusOf(a)
	e.Statuses[status]++
	if a.Status == llm.OK {
		e.answered(a.Latency)
	} else if a.Err != "" {
		e.index.add(&e.Errors, b.run.Clock.Now(), status, a.Err)
	}
}

// statusOf returns how an attempt ended, with the kind of a failure.
func statusOf(a llm.Attempt) string {
	if a.Status == llm.Failed && a.Kind != "" {
		return string(a.Status) + ": " + Name(a.Kind)
	}
	return string(a.Status)
}

func (e *Endpoint) answered(took time.Duration) {
	if len(e.latencies) < mostLatencies {
		e.latencies = append(e.latencies, took)
		return
	}
	e.latencies[e.next] = took
	e.next = (e.next + 1) % mostLatencies
}
