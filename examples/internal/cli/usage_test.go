package cli

import (
	"errors"
	"flag"
	"fmt"
	"testing"
)

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		reason string
		err    error
		want   int
	}{
		{"a good end", nil, 0},
		{"--help", fmt.Errorf("x: %w", flag.ErrHelp), 0},
		{"wrong input", fmt.Errorf("x: %w", Usagef("--N is 0")), 2},
		{"what cannot go on", errors.New("the endpoint is gone"), 1},
		{"Ctrl-C", ErrCanceled, 130},
	} {
		if got := status(tt.err); got != tt.want {
			t.Errorf("%s: exit status %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// What a client says of its configuration is told in flags and variables.
func TestInFlags(t *testing.T) {
	const of = "404 Not Found (check the URL in Config.BaseURL, and the key in Config.APIKey)"
	if got, want := inFlags(of), "404 Not Found (check the URL in --api-base or LLM_API_BASE, and the key in LLM_API_KEY)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
