package gateway

import "time"

// Bounded returns a Config with bounds of its own; those that are 0 have their defaults.
func Bounded(body int64, patience, ping time.Duration) Config {
	return Config{bounds: bounds{body, patience, ping}}
}

// Waiting returns the clients that wait for calls, and the calls for which none does.
func (s *Session) Waiting() (clients, abandoned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		clients += c.waiters
		if c.waiters == 0 {
			abandoned++
		}
	}
	return clients, abandoned
}

// Serving returns the requests that are served, which may wait to be parsed.
func (s *Session) Serving() int { return len(s.slots) }

// HoldParsing holds up the parsing of bodies until the function that it returns is called.
func (g *Gateway) HoldParsing() (release func()) {
	for range cap(g.parsing) {
		g.parsing <- struct{}{}
	}
	return func() {
		for range cap(g.parsing) {
			<-g.parsing
		}
	}
}
