package pool

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// hashOf hashes the parts and their lengths, eight bytes at a time, as FNV-1a does bytes. It is the
// same in every process, so that a prompt finds its endpoint again after a restart.
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

// preference returns the endpoints in the order in which req wants them: by falling score
//
//	-places / ln u,  u = hash(affinity, endpoint) in (0, 1)
//
// so that each comes first for a share of the prompts that is its share of the places, and prompts
// keep their order among the others when an endpoint goes or comes.
func (p *Pool) preference(req llm.Request) []int {
	key := p.affinity(req)
	scores := make([]float64, len(p.ends))
	order := make([]int, len(p.ends))
	for i, e := range p.ends {
		u := (float64(mix(key^e.hash)>>11) + 0.5) / (1 << 53)
		scores[i], order[i] = -float64(e.places)/math.Log(u), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

func (p *Pool) affinity(req llm.Request) uint64 {
	if p.cfg.Affinity != nil {
		return hashOf(p.cfg.Affinity(req))
	}
	parts := make([]string, 0, 2*len(req.Messages))
	for _, m := range req.Messages {
		parts = append(parts, m.Role, m.Content)
	}
	return hashOf(parts...)
}

// place finds a place for c, or the reason why there will be none; otherwise ok is false and c waits.
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

// probe returns an endpoint that c should try for the others. A call does that once, or as often as
// it takes when there is nowhere else to go.
func (p *Pool) probe(c *call, now time.Time) *endpoint {
	for _, i := range c.order {
		e := p.ends[i]
		if e.breaker.due(now) && e.inFlight < e.places && (!c.probed || !p.anyHealthy()) {
			return e
		}
	}
	return nil
}

// route returns the first endpoint in c's order with a place that is not loaded beyond the others,
// or else the least loaded; nil if none has a place for c.
func (p *Pool) route(c *call) *endpoint {
	calls, places := 1, 0
	for _, e := range p.ends {
		if e.breaker.health == Healthy {
			calls, places = calls+e.inFlight, places+e.places
		}
	}
	var least *endpoint
	for _, i := range c.order {
		e := p.ends[i]
		if !e.free(c) {
			continue
		}
		share := math.Ceil(p.cfg.Factor * float64(calls) * float64(e.places) / float64(places))
		if float64(e.inFlight+1) <= max(share, math.Floor(p.cfg.Slack*float64(e.places))) {
			return e
		}
		if least == nil || e.inFlight*least.places < least.inFlight*e.places {
			least = e
		}
	}
	return least
}
