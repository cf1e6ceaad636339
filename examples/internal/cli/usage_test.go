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

// What libraries say is told in flags and variables, and does not repeat the whole of a value from a file.
func TestInFlags(t *testing.T) {
	for of, want := range map[string]string{
		"(check Config.BaseURL and the key in Config.APIKey)": "(check --api-base or LLM_API_BASE and the key in LLM_API_KEY)",
		"the agent was stopped: 2 calls are the most":         "the agent was stopped: 2 calls are the most, by --agent-calls",
		strings.Repeat("7", 1<<20) + ": too many":             strings.Repeat("7", 2000) + " ... " + strings.Repeat("7", 1990) + ": too many",
	} {
		if got := inFlags(of); got != want {
			t.Errorf("%.100s: %s, want %s", of, got, want)
		}
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
