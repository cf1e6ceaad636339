package evolve

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
)

// attemptOf returns an attempt that took this many milliseconds.
func attemptOf(ms int) llm.Attempt {
	return llm.Attempt{Status: llm.OK, Latency: time.Duration(ms) * time.Millisecond, Usage: &llm.Usage{PromptTokens: ms}}
}

func callOf(kind string, ms ...int) Call {
	c := Call{Kind: kind}
	for _, m := range ms {
		c.Attempts = append(c.Attempts, attemptOf(m))
	}
	return c
}

func TestMissingCalls(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		children []Call // what each child is said to have cost
		asides   []Call
		made     []Call
		missing  []Call
		left     []Call // of children
	}{
		{"an arm that returns all", []Call{callOf("", 1), callOf("", 2, 3)}, []Call{callOf("judge", 4)},
			[]Call{callOf("judge", 4), callOf("child", 2, 3), callOf("child", 1)}, nil, []Call{callOf("", 1), callOf("", 2, 3)}},
		{"a forgotten child and a forgotten judge, in an order of their own", nil, nil,
			[]Call{callOf("judge", 4), callOf("child", 9), callOf("child", 1)},
			[]Call{callOf("child", 1), callOf("child", 9), callOf("judge", 4)}, nil},
		{"a judge's attempts appended to the child's", []Call{callOf("", 1, 4)}, nil,
			[]Call{callOf("child", 1), callOf("judge", 4)}, []Call{callOf("child", 1), callOf("judge", 4)}, []Call{callOf("")}},
		{"a judge whose attempts only begin or end like a child's", []Call{callOf("", 1, 2, 3)}, nil,
			[]Call{callOf("judge", 1, 3)}, []Call{callOf("judge", 1, 3)}, []Call{callOf("", 1, 2, 3)}},
		{"two equal calls of which the arm has one", []Call{callOf("", 1)}, nil,
			[]Call{callOf("child", 1), callOf("child", 1)}, []Call{callOf("child", 1)}, []Call{callOf("", 1)}},
		{"an aside under another kind", nil, []Call{callOf("insights", 4)},
			[]Call{callOf("judge", 4)}, []Call{callOf("judge", 4)}, nil},
	} {
		var children [][]llm.Attempt
		for _, c := range tt.children {
			children = append(children, c.Attempts)
		}
		missing := missingCalls(children, tt.asides, tt.made)
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
