package nats

import (
	"sync"
	"time"
)

// complaints are what is logged again and again while it lasts, and not more often than each minute.
type complaints struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// maxComplaints is how many different ones there are within a minute. Further ones are not due.
const maxComplaints = 20

// due reports whether it is to be logged, and takes it for logged then.
func (c *complaints) due(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, at := range c.last {
		if time.Since(at) > time.Minute {
			delete(c.last, other)
		}
	}
	if _, lately := c.last[what]; lately || len(c.last) >= maxComplaints {
		return false
	}
	if c.last == nil {
		c.last = map[string]time.Time{}
	}
	c.last[what] = time.Now()
	return true
}
