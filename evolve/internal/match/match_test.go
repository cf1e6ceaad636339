package match_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/internal/match"
	"github.com/evoalloc/evoalloc/llm"
)

// attempt returns an attempt that took this many milliseconds.
func attempt(ms int) llm.Attempt {
	return llm.Attempt{Status: llm.OK, Latency: time.Duration(ms) * time.Millisecond, Usage: &llm.Usage{PromptTokens: ms}}
}

func call(kind string, ms ...int) match.Call {
	c := match.Call{Kind: kind}
	for _, m := range ms {
		c.Attempts = append(c.Attempts, attempt(m))
	}
	return c
}

func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		children []match.Call // what each child is said to have cost
		asides   []match.Call
		made     []match.Call
		missing  []match.Call
		left     []match.Call // of children
	}{
		{"an arm that returns all", []match.Call{call("", 1), call("", 2, 3)}, []match.Call{call("judge", 4)},
			[]match.Call{call("judge", 4), call("child", 2, 3), call("child", 1)}, nil, []match.Call{call("", 1), call("", 2, 3)}},
		{"a forgotten child and a forgotten judge, in an order of their own", nil, nil,
			[]match.Call{call("judge", 4), call("child", 9), call("child", 1)},
			[]match.Call{call("child", 1), call("child", 9), call("judge", 4)}, nil},
		{"a judge's attempts appended to the child's", []match.Call{call("", 1, 4)}, nil,
			[]match.Call{call("child", 1), call("judge", 4)}, []match.Call{call("child", 1), call("judge", 4)}, []match.Call{call("")}},
		{"a judge whose attempts only begin or end like a child's", []match.Call{call("", 1, 2, 3)}, nil,
			[]match.Call{call("judge", 1, 3)}, []match.Call{call("judge", 1, 3)}, []match.Call{call("", 1, 2, 3)}},
		{"two equal calls of which the arm has one", []match.Call{call("", 1)}, nil,
			[]match.Call{call("child", 1), call("child", 1)}, []match.Call{call("child", 1)}, []match.Call{call("", 1)}},
		{"an aside under another kind", nil, []match.Call{call("insights", 4)},
			[]match.Call{call("judge", 4)}, []match.Call{call("judge", 4)}, nil},
	} {
		var children [][]llm.Attempt
		for _, c := range tt.children {
			children = append(children, c.Attempts)
		}
		missing := match.Missing(children, tt.asides, tt.made, "child")
		if diff := cmp.Diff(tt.missing, missing); diff != "" {
			t.Errorf("%s: missing (-want +got)\n%s", tt.reason, diff)
		}
		for i, c := range tt.left {
			if len(children[i]) != len(c.Attempts) || len(c.Attempts) > 0 && cmp.Diff(c.Attempts, children[i]) != "" {
				t.Errorf("%s: child %d has %v, want %v", tt.reason, i, children[i], c.Attempts)
			}
		}
	}
}
