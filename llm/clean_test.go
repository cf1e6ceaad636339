package llm_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
)

func ExampleReply_Clean() {
	r := llm.Reply{Text: "caf\xe9", Attempts: []llm.Attempt{{FinishReason: "st\x1b[2Jop\n"}}}.Clean()
	fmt.Printf("%q, %q\n", r.Text, r.Attempts[0].FinishReason)
	// Output: "caf�", "stop"
}

// Whatever an endpoint says of an attempt, what is kept of it has bounds, and the caller's is left alone.
func TestReplyClean(t *testing.T) {
	long := strings.Repeat("é ", 1<<16)
	own := []llm.Attempt{{FinishReason: long, Kind: long, Err: long},
		{FinishReason: "stop", Usage: &llm.Usage{PromptTokens: 1}}}
	r := llm.Reply{Text: "a\nb", Attempts: own}.Clean()
	for _, tt := range []struct {
		name, got string
		most      int
	}{
		{"finish reason", r.Attempts[0].FinishReason, 64},
		{"kind", r.Attempts[0].Kind, 64},
		{"error", r.Attempts[0].Err, 2 << 10},
	} {
		if len(tt.got) > tt.most || !strings.HasPrefix(tt.got, "é é") || !strings.HasSuffix(tt.got, "é ...") ||
			!utf8.ValidString(tt.got) {
			t.Errorf("%s: %d bytes, %.40q", tt.name, len(tt.got), tt.got)
		}
	}
	if own[0].Err != long || r.Text != "a\nb" {
		t.Error("the caller's attempts, or a good text, were changed")
	}
	if diff := cmp.Diff(r, r.Clean()); diff != "" || r.Attempts[1].FinishReason != "stop" {
		t.Errorf("cleaning it again changes it:\n%s", diff)
	}
	if got := (llm.Reply{}).Clean(); got.Attempts != nil {
		t.Errorf("attempts %v of none", got.Attempts)
	}
}

// What a program says of its own cost cannot keep an attempt out of a journal.
func TestCleanMoney(t *testing.T) {
	for money, want := range map[float64]float64{0.25: 0.25, -5: 0, math.Inf(1): 0, math.NaN(): 0, 1e300: 0} {
		r := llm.Reply{Attempts: []llm.Attempt{{Money: money,
			Usage: &llm.Usage{PromptTokens: -1, CompletionTokens: 3}}}}.Clean()
		if a := r.Attempts[0]; a.Money != want || a.Usage.PromptTokens != 0 || a.Usage.CompletionTokens != 3 {
			t.Errorf("%v is %v, with %+v", money, a.Money, a.Usage)
		}
	}
}

// Counts and shares that cannot be do not reach a journal, which could not hold some of them, or a sum.
func TestCleanCounts(t *testing.T) {
	for _, tt := range []struct{ got, want llm.Attempt }{
		{llm.Attempt{MaxTokens: math.MaxInt, Streamed: math.MaxInt}, llm.Attempt{MaxTokens: 1 << 30, Streamed: 1 << 30}},
		{llm.Attempt{MaxTokens: -5, Streamed: math.MinInt}, llm.Attempt{}},
		{llm.Attempt{MaxTokens: 7, Streamed: 3}, llm.Attempt{MaxTokens: 7, Streamed: 3}},
	} {
		r := llm.Reply{Attempts: []llm.Attempt{tt.got}}.Clean()
		if diff := cmp.Diff(tt.want, r.Attempts[0]); diff != "" {
			t.Error(diff)
		}
	}
}
