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
