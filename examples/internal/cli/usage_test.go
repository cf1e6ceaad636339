package cli

import (
	"errors"
	"flag"
	"fmt"
	"strings"
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

// A bound that ended an agent is told by its flag.
func TestBoundsInFlags(t *testing.T) {
	if got := inFlags("the agent was stopped: 2 calls are the most"); !strings.HasSuffix(got, "2 calls are the most, by --agent-calls") {
		t.Error(got)
	}
}

// A program with one argument says which one is missing or too many.
func TestParseOne(t *testing.T) {
	for _, tt := range []struct {
		reason, want, err string
		args              []string
	}{
		{"flags, then the argument", "a.journal", "", []string{"--n", "1", "a.journal"}},
		{"an argument that looks like a flag", "-a", "", []string{"--", "-a"}},
		{"none", "", "x: a journal is missing (see --help)", []string{"--n", "1"}},
		{"the argument, then flags", "a.journal", "", []string{"a.journal", "--n", "1"}},
		{"two", "", "x: unexpected argument \"b\": need a journal alone (see --help)", []string{"a", "--n", "1", "b"}},
		{"a wrong flag", "", "x has no flag --m (see --help-all)", []string{"-m"}},
	} {
		fs := NewFlags("x", "")
		fs.Int("n", 0, "")
		got, err := ParseOne(fs, tt.args, "a journal")
		if said := fmt.Sprint(err); got != tt.want || tt.err != "" && said != tt.err || tt.err == "" && err != nil {
			t.Errorf("%s: %q, %v, want %q, %q", tt.reason, got, err, tt.want, tt.err)
		}
		if usage := (*UsageError)(nil); err != nil && !errors.As(err, &usage) {
			t.Errorf("%s: %v is not a UsageError", tt.reason, err)
		}
	}
}
