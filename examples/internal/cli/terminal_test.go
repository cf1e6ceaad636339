package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// What a candidate or a model says is shown without what a terminal would obey, whichever way it takes.
func TestHostileTextOnATerminal(t *testing.T) {
	const hostile = "why\x1b]52;c;cm0gLXJm\x07 \x1b]0;title\x1b\\\x1b[2J\u009b31m\u202enot\u200b\rthis"
	for _, tt := range []struct {
		reason string
		print  func()
	}{
		{"an error", func() { status(errors.New(hostile)) }},
		{"wrong usage", func() { status(Usagef("the initial program is invalid: %s", hostile)) }},
		{"why children have no score", func() {
			p := (&Options{T: 1, N: 1}).NewProgress(t.Context(), "", nil)
			defer p.Close()
			p.complain(evolve.Generation{Children: slices.Repeat([]evolve.Child{{Err: hostile}}, telling)})
		}},
		{"the same at the end", func() {
			r := &evolve.Result{Stop: evolve.StopBudget, Arms: []evolve.ArmResult{{Generations: []evolve.Generation{
				{Children: []evolve.Child{{Candidate: eval.Candidate{Result: eval.Result{Reason: hostile}}}}}}}}}
			(&Options{T: 1, N: 1}).Summarize(nil, nil, r, result.Cost{}, nil)
		}},
		{"a line of progress", func() {
			p := (&Options{T: 1, N: 1}).NewProgress(context.Background(), "", nil)
			defer p.Close()
			p.printf("%s", hostile)
		}},
		{"a table", func() { Table([]string{"what"}, [][]string{{hostile}}) }},
		{"anything else", func() { Printf("%s\n", hostile) }},
	} {
		got := runtest.Output(t, tt.print)
		if !strings.Contains(got, "why") || strings.ContainsAny(got, "\x1b\x07\r\u009b\u202e\u200b") ||
			strings.Contains(got, "cm0gLXJm") {
			t.Errorf("%s: prints %q", tt.reason, got)
		}
	}
}
