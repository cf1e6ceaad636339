package llm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

// pupil is a model that remembers what it was told.
type pupil struct {
	llm.Func
	told []llm.Outcome
}

func (p *pupil) Learn(o llm.Outcome) { p.told = append(p.told, o) }

func TestAs(t *testing.T) {
	p := &pupil{Func: shout}
	for _, tt := range []struct {
		reason string
		l      llm.LLM
		found  bool
	}{
		{"itself", p, true},
		{"behind every combinator", llm.Retry(llm.Limit(open{p}, 3), llm.RetryConfig{}), true},
		{"none", llm.Retry(llm.Func(shout), llm.RetryConfig{}), false},
		{"nothing", nil, false},
		{"a wrapper of nothing", llm.Limit(nil, 1), false},
	} {
		learner, ok := llm.As[llm.Learner](tt.l)
		if ok != tt.found || ok && learner != llm.Learner(p) {
			t.Errorf("%s: %v, %v", tt.reason, learner, ok)
		}
	}
}

func ExampleLearner() {
	p := &pupil{Func: shout}
	model := llm.Retry(llm.Limit(p, 4), llm.RetryConfig{})
	// What a search does for each child:
	reply, _ := model.Generate(context.Background(), say("hello", 1))
	score := 0.5
	if learner, ok := llm.As[llm.Learner](model); ok {
		learner.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: score, Parent: 0.4})
	}
	fmt.Println(len(p.told), p.told[0].Score > p.told[0].Parent)
	// Output: 1 true
}

func ExampleAs() {
	_, ok := llm.As[llm.Learner](llm.Limit(llm.Func(shout), 4))
	fmt.Println(ok)
	// Output: false
}

func ExampleOutcome() {
	o := llm.Outcome{Valid: true, Score: 0.37, Parent: 0.36}
	fmt.Println(o.Valid && o.Score > o.Parent)
	// Output: true
}
