package step

import (
	"errors"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// mostUnheard is how many attempts may fail while no call of a run was ever answered: two calls with the retries
// that [llm.Retry] makes by default. Attempts count once their call has ended, so an endpoint has the time of a call's retries to come
// up, and an LLM that retries for longer gives it longer.
const mostUnheard = 2 * (1 + llm.DefaultRetries)

// A Silence counts the attempts that failed of a run of which no call was ever answered. Such a run most likely has the
// wrong address or a broken endpoint, and to go on only delays saying so. After the first answer, also one that the
// journal recalls, it counts nothing. It is safe for concurrent use. The zero value is ready.
type Silence struct {
	mu      sync.Mutex
	broken  bool // a call was answered
	failed  int  // attempts of calls that ended
	begun   int  // calls
	open    int  // calls under way
	until   int  // calls that were begun when too many attempts had failed; 0 before that
	waiting int  // of these, those under way
	// refused holds, for each model that has answered, how many calls were refused since.
	refused map[string]int
}

// mostRefused is how many calls in a row a model that has answered may refuse.
const mostRefused = 8

// Begin begins a call. The func that it returns ends it, and returns its error, or a [*Unheard] if the run ends
// because nothing was answered.
//
// When too many attempts have failed, the calls under way decide: failures come fast, and a good answer may take
// minutes.
//
// An endpoint that says when to come back (Retry-After) is busy and not broken, so what it refuses counts nothing.
// Nor do attempts that timed out: Budget.Stalls limits those.
func (s *Silence) Begin() (end func([]llm.Attempt, error) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	s.open++
	number := s.begun
	return func(attempts []llm.Attempt, err error) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.end(number, attempts, err)
	}
}

// Hear takes in that a call was answered, if it was. Its failure counts nothing.
func (s *Silence) Hear(attempts []llm.Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear(attempts)
}

// hear is Hear. s.mu is held.
func (s *Silence) hear(attempts []llm.Attempt) {
	if llm.ClassOf(attempts) != llm.Real {
		return
	}
	s.broken = true
	if s.refused == nil {
		s.refused = make(map[string]int)
	}
	s.refused[attempts[len(attempts)-1].Model] = 0
}

// alone returns err as that of its request alone, if a model that has answered refuses it as it does a wrong key or a
// wrong name: providers refuse single prompts so. Several in a row are what they say. s.mu is held.
func (s *Silence) alone(attempts []llm.Attempt, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindAuth && e.Kind != llm.KindNotFound || len(attempts) == 0 {
		return err
	}
	model := attempts[len(attempts)-1].Model
	if n, answered := s.refused[model]; !answered || n >= mostRefused {
		return err
	}
	s.refused[model]++
	one := *e
	one.Kind = llm.KindBadRequest
	return &one
}

// end takes in that a call ended, and returns its error. s.mu is held.
func (s *Silence) end(number int, attempts []llm.Attempt, err error) error {
	s.open--
	if number <= s.until {
		s.waiting--
	}
	s.hear(attempts)
	err = s.alone(attempts, err)
	if _, refused := Refusal(err); s.broken || refused || busy(err) || llm.ClassOf(attempts) != llm.Errored {
		return err
	}
	for _, a := range attempts {
		if a.Status == llm.Failed {
			s.failed++
		}
	}
	if s.failed >= mostUnheard && s.until == 0 {
		s.until, s.waiting = s.begun, s.open
	}
	if s.failed < mostUnheard || s.waiting > 0 {
		return err
	}
	return &Unheard{Failed: s.failed, Last: err}
}

// busy reports whether the endpoint said when to come back.
func busy(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.RetryAfter > 0
}
