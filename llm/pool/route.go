package pool

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// hashOf hashes the parts and their lengths like FNV-1a, but eight bytes at a time. It is the same in every process, so
// that a prompt finds its endpoint again after a restart.
func hashOf(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	put := func(word uint64) {
		h = (h ^ word) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	for _, s := range parts {
		put(uint64(len(s)))
		for ; len(s) >= 8; s = s[8:] {
			put(binary.LittleEndian.Uint64([]byte(s[:8])))
		}
		var last [8]byte
		copy(last[:], s)
		put(binary.LittleEndian.Uint64(last[:]))
	}
	return h
}

// mix spreads h over all 64 bits: the finalizer of SplitMix64.
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

// preference returns the endpoints in req's order of preference, by falling score
//
//	-slots / ln u,  u = hash(affinity, endpoint) in (0, 1)
//
// so that each is first for a share of the prompts equal to its share of the slots, and the order of the others does
// not change when an endpoint leaves or joins.
func (p *Pool) preference(req llm.Request) []int {
	key := p.affinity(req)
	scores := make([]float64, len(p.ends))
	order := make([]int, len(p.ends))
	for i, e := range p.ends {
		u := (float64(mix(key^e.hash)>>11) + 0.5) / (1 << 53)
		scores[i], order[i] = -float64(e.slots)/math.Log(u), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

func (p *Pool) affinity(req llm.Request) uint64 {
	parts := make([]string, 0, 2*len(req.Messages))
	for _, m := range req.Messages {
		parts = append(parts, m.Role, m.Content)
	}
	return hashOf(parts...)
}

// place finds a slot for c, or the reason why there will be none. If ok is false, c must wait.
func (p *Pool) place(c *call, now time.Time) (g grant, ok bool) {
	if e := p.probe(c, now); e != nil {
		p.event(now, e, "probe", nil)
		return e.take(now, true), true
	}
	if e := p.route(c); e != nil {
		return e.take(now, false), true
	}
	if err := p.hopeless(c, now); err != nil {
		return grant{err: err}, true
	}
	return grant{}, false
}

// probe returns an endpoint that c should probe. A call probes once, or repeatedly if no endpoint is healthy.
func (p *Pool) probe(c *call, now time.Time) *endpoint {
	for _, i := range c.order {
		e := p.ends[i]
		if e.breaker.due(now) && e.inFlight < e.slots && (!c.probed || !p.anyHealthy()) {
			return e
		}
	}
	return nil
}

// route returns the first endpoint in c's order that has a slot and is not overloaded, or else the least loaded; nil if
// none has a slot for c.
func (p *Pool) route(c *call) *endpoint {
	calls, slots := 1, 0
	for _, e := range p.ends {
		if e.breaker.health == Healthy {
			calls, slots = calls+e.inFlight, slots+e.slots
		}
	}
	var least *endpoint
	for _, i := range c.order {
		e := p.ends[i]
		if !e.free(c) {
			continue
		}
		share := factor * float64(calls) * float64(e.slots) / float64(slots)
		if e.inFlight+1 <= max(int(share), 1) {
			return e
		}
		if least == nil || e.inFlight*least.slots < least.inFlight*e.slots {
			least = e
		}
	}
	return least
}
