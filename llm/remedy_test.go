package llm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

func TestRemedy(t *testing.T) {
	for _, kind := range []string{llm.KindConnection, llm.KindBadRequest, llm.KindContextLength,
		llm.KindRateLimit, llm.KindServer, llm.KindBrokenReply, llm.KindOther} {
		if got := llm.Remedy(&llm.Error{Status: llm.Failed, Kind: kind, Err: errors.New("odd")}); got == "" ||
			strings.Contains(got, "\n") {
			t.Errorf("%s: %q, want one line", kind, got)
		}
	}
	for _, tt := range []struct {
		reason string
		err    error
		want   string
	}{
		{"no error", nil, ""},
		{"not of a call", errors.New("odd"), ""},
		{"given up", &llm.Error{Status: llm.Canceled, Err: errors.New("odd")}, ""},
		{"after retries", fmt.Errorf("%w (tried 3 times)",
			&llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Err: errors.New("odd")}), "fewer calls in flight"},
		{"the error says what is wrong", &llm.Error{Status: llm.Failed, Kind: llm.KindAuth, Err: errors.New("odd")}, ""},
		{"a hang", &llm.Error{Status: llm.Stalled, Err: errors.New("odd")}, "Timeout"},
	} {
		if got := llm.Remedy(tt.err); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}

func ExampleRemedy() {
	err := &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Code: 429, Err: errors.New("slow down")}
	fmt.Printf("%v: %s\n", err, llm.Remedy(err))
	// Output:
	// llm: slow down: have fewer calls in flight, or ask the provider for a higher limit
}
