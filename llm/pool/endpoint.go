package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// endpoint is an Endpoint in use. The pool's mutex guards all but the first group of fields.
type endpoint struct {
	index int
	name  string
	hash  uint64
	llm   llm.LLM
	slots int

	breaker  breaker
	inFlight int
	answered bool      // whether it ever answered
	busyFrom time.Time // when inFlight was last 0
	stats    endpointStats
}

func newEndpoint(e Endpoint, cfg Config) *endpoint {
	return &endpoint{
		index:   slices.IndexFunc(cfg.Endpoints, func(o Endpoint) bool { return o.Name == e.Name }),
		name:    e.Name,
		hash:    hashOf(e.Name),
		llm:     e.LLM,
		slots:   cmp.Or(e.Slots, cfg.Slots),
		breaker: breaker{first: cfg.Quarantine, health: Healthy},
	}
}

// named returns a copy of attempts in which each names its endpoint.
func (e *endpoint) named(attempts []llm.Attempt) []llm.Attempt {
	out := slices.Clone(attempts)
	for i := range out {
		out[i].Endpoint = cmp.Or(out[i].Endpoint, e.name)
	}
	return out
}

// take occupies a slot.
func (e *endpoint) take(now time.Time, probe bool) grant {
	if e.inFlight == 0 {
		e.busyFrom = now
	}
	e.inFlight++
	if probe {
		e.breaker.health = Probing
		e.stats.probes++
	}
	return grant{end: e, epoch: e.breaker.epoch, probe: probe}
}

// leave frees a slot.
func (e *endpoint) leave(now time.Time) {
	if e.inFlight--; e.inFlight == 0 {
		e.stats.busy += now.Sub(e.busyFrom)
	}
}

// free reports whether c can be sent here: there is a slot, and c was not here in this epoch.
func (e *endpoint) free(c *call) bool {
	return e.breaker.health == Healthy && e.inFlight < e.slots && !e.failed(c)
}

// failed reports whether c was here since the endpoint was last taken out.
func (e *endpoint) failed(c *call) bool { return c.tried[e.index] == e.breaker.epoch }
