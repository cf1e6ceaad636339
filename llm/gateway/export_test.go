package gateway

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
