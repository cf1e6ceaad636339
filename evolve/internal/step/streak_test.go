package step

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

var errCall = errors.New("the call failed")

func attempts(of ...llm.Status) (list []llm.Attempt) {
	for _, s := range of {
		list = append(list, llm.Attempt{Status: s})
	}
	return list
}

func TestStreak(t *testing.T) {
	bad, slow, good := attempts(llm.Failed), attempts(llm.Timeout), attempts(llm.Failed, llm.OK)
	for _, tt := range []struct {
		reason string
		calls  [][]llm.Attempt
		ends   bool
	}{
		{"three in a row", [][]llm.Attempt{bad, bad, bad}, true},
		{"two in a row", [][]llm.Attempt{bad, bad}, false},
		{"an answer ends the streak, whatever its first attempt", [][]llm.Attempt{bad, bad, good, bad, bad}, false},
		{"a timeout neither counts nor ends it", [][]llm.Attempt{bad, slow, bad, slow, bad}, true},
		{"what was never sent does not count", [][]llm.Attempt{nil, nil, nil, bad}, false},
	} {
		var s Streak
		var err error
		for _, c := range tt.calls {
			err = s.Note("model calls", c, errCall, 3)
		}
		if (err != nil) != tt.ends || err != nil && !errors.Is(err, errCall) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

func TestSilence(t *testing.T) {
	bad, slow := attempts(llm.Failed, llm.Failed, llm.Failed), attempts(llm.Timeout)
	for _, tt := range []struct {
		reason string
		calls  [][]llm.Attempt
		err    error
		ends   bool
	}{
		{"two calls with their retries", [][]llm.Attempt{bad, bad}, errCall, true},
		{"one call", [][]llm.Attempt{bad}, errCall, false},
		{"one call was answered", [][]llm.Attempt{bad, attempts(llm.OK), bad}, errCall, false},
		{"timeouts do not count", [][]llm.Attempt{bad, slow, slow, slow, slow}, errCall, false},
		{"an endpoint that says when to come back", [][]llm.Attempt{bad, bad},
			&llm.Error{Err: errCall, RetryAfter: time.Second}, false},
		{"the budget has no room for another attempt", [][]llm.Attempt{bad, bad},
			errors.Join(&Refused{Limit: "Calls"}, errCall), false},
	} {
		var s Silence
		var err error
		for _, c := range tt.calls {
			err = s.Begin()(c, tt.err)
		}
		var unheard *Unheard
		if errors.As(err, &unheard) != tt.ends {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

// When too many attempts have failed, the calls under way decide.
func TestSilenceAwaitsWhatIsUnderWay(t *testing.T) {
	bad := attempts(llm.Failed, llm.Failed, llm.Failed)
	for _, answered := range []bool{false, true} {
		var s Silence
		one, two, three := s.Begin(), s.Begin(), s.Begin()
		var unheard *Unheard
		if err := errors.Join(one(bad, errCall), two(bad, errCall)); errors.As(err, &unheard) {
			t.Errorf("one call is under way: %v", err)
		}
		if answered {
			s.Hear(attempts(llm.OK))
		}
		if err := three(bad, errCall); errors.As(err, &unheard) == answered {
			t.Errorf("the last has failed, another was answered: %v: %v", answered, err)
		}
	}
}

// A model that has answered may refuse single requests as it does a wrong key. Several in a row end the run, and so does
// the first of a model that never answered.
func TestRefusalsOfAModelThatAnswers(t *testing.T) {
	of := func(model string, status llm.Status) []llm.Attempt {
		return []llm.Attempt{{Status: status, Model: model}}
	}
	for _, kind := range []string{llm.KindAuth, llm.KindNotFound} {
		var s Silence
		refuse := func(model string) error {
			return s.Begin()(of(model, llm.Failed), fmt.Errorf("a call: %w", &llm.Error{Status: llm.Failed, Kind: kind, Err: errCall}))
		}
		if err := refuse("a"); !EndsRun(err) {
			t.Errorf("%s before any answer: %v", kind, err)
		}
		for range 3 {
			s.Begin()(of("a", llm.OK), nil)
			for range mostRefused {
				if err := refuse("a"); err == nil || EndsRun(err) || !errors.Is(err, errCall) {
					t.Errorf("%s after an answer: %v", kind, err)
				}
			}
		}
		if err := refuse("a"); !EndsRun(err) {
			t.Errorf("%s, one more than %d in a row: %v", kind, mostRefused, err)
		}
		if err := refuse("b"); !EndsRun(err) {
			t.Errorf("%s of another model: %v", kind, err)
		}
	}
}
