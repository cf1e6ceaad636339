package step

import (
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// A Streak counts the calls in a row that failed, among those made in this incarnation of the run. Calls that the
// journal recalls must not be noted. If they counted, the streak that ended one incarnation would end each one
// after it, although the endpoint is back. It is safe for concurrent use. The zero value is ready.
type Streak struct {
	mu sync.Mutex
	n  int
}

// Note counts a call. It returns an error that calls them what when most of them in a row have failed. A call that was
// never sent does not count. A timeout neither counts nor ends the streak: Budget.Stalls limits timeouts.
func (s *Streak) Note(what string, attempts []llm.Attempt, err error, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch last := len(attempts) - 1; {
	case last < 0:
	case attempts[last].Status == llm.Failed:
		s.n++
	case attempts[last].Status == llm.OK:
		s.n = 0
	}
	if s.n < most || err == nil {
		return nil
	}
	return fmt.Errorf("evolve: %d %s in a row failed, the last with: %w", s.n, what, err)
}
