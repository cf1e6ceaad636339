package nats

import (
	"sync"
	"time"
)

// complaints limits warnings about lasting conditions: each is logged once a minute.
type complaints struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// maxComplaints bounds the different texts logged within a minute.
const maxComplaints = 20

// due reports whether a text should be logged now, and if so records that it was.
func (c *complaints) due(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, at := range c.last {
		if time.Since(at) > time.Minute {
			delete(c.last, other)
		}
	}
	if _, lately := c.last[text]; lately || len(c.last) >= maxComplaints {
		return false
	}
	if c.last == nil {
		c.last = map[string]time.Time{}
	}
	c.last[text] = time.Now()
	return true
}
