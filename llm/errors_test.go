package llm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

func TestErrorClasses(t *testing.T) {
	of := func(kind string) error {
		return &llm.Error{Status: llm.Failed, Kind: kind, Err: errors.New("x")}
	}
	for _, tt := range []struct {
		reason                 string
		err                    error
		status                 llm.Status
		unavailable, retryable bool
	}{
		{"no error", nil, llm.OK, false, false},
		{"nothing there", of(llm.KindRefused), llm.Failed, true, true},
		{"a key that is not good", of(llm.KindAuth), llm.Failed, true, false},
		{"no such model", of(llm.KindNotFound), llm.Failed, true, false},
		{"one request was bad, the next may not be", of(llm.KindBadRequest), llm.Failed, false, false},
		{"one prompt was too long", of(llm.KindContextLength), llm.Failed, false, false},
		{"too many requests", of(llm.KindRateLimit), llm.Failed, false, true},
		{"the server's fault", of(llm.KindServer), llm.Failed, false, true},
		{"cut under way", of(llm.KindConnection), llm.Failed, false, true},
		{"not an answer", of(llm.KindBrokenReply), llm.Failed, false, true},
		{"wrapped on the way up", fmt.Errorf("child 3: %w", of(llm.KindAuth)), llm.Failed, true, false},
		{"timed out", &llm.Error{Status: llm.Timeout, Err: errors.New("x")}, llm.Timeout, false, true},
		{"stalled", &llm.Error{Status: llm.Stalled, Err: errors.New("x")}, llm.Stalled, false, true},
		{"given up", &llm.Error{Status: llm.Canceled, Err: context.Canceled}, llm.Canceled, false, false},
		{"another make's timeout", fmt.Errorf("mine: %w", context.DeadlineExceeded), llm.Timeout, false, true},
		{"another make's cancel", fmt.Errorf("mine: %w", context.Canceled), llm.Canceled, false, false},
		{"another make's dead end", fmt.Errorf("mine: %w", llm.ErrUnavailable), llm.Failed, true, false},
		{"a dead end inside an Error", &llm.Error{Status: llm.Failed, Kind: llm.KindOther, Err: llm.ErrUnavailable},
			llm.Failed, true, false},
	} {
		if got := llm.StatusOf(tt.err); got != tt.status {
			t.Errorf("%s: StatusOf is %q, want %q", tt.reason, got, tt.status)
		}
		if got := llm.Unavailable(tt.err); got != tt.unavailable {
			t.Errorf("%s: Unavailable is %v", tt.reason, got)
		}
		if got := llm.Retryable(tt.err); got != tt.retryable {
			t.Errorf("%s: Retryable is %v", tt.reason, got)
		}
	}
}

func TestErrorIsOneLine(t *testing.T) {
	err := &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Endpoint: "http://h/v1",
		Err: errors.New("bad\n  gateway\t!")}
	if got, want := err.Error(), "llm: http://h/v1: bad gateway !"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
