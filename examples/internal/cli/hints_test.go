package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

func TestWithHints(t *testing.T) {
	for _, tt := range []struct{ language, program, shown string }{
		{"python", "def f(q):\n    q = [1]\n    while q:\n        q.pop(0)\n",
			"> line 4: q.pop(0…) moves all other elements, in a loop, if q is a list"},
		{"go", "package p\n\nvar x *int\n\nfunc F(n int) {\n\tfor range n {\n\t\tx = new(int)\n\t}\n}\n",
			"> line 7: x = new(int) allocates on the heap in each pass of the loop of line 6"},
		{"javascript", "let x = 1", ""},
	} {
		t.Run(tt.language, func(t *testing.T) {
			if _, err := python.Find(t.Context()); err != nil && tt.language == "python" {
				notrun.Say("examples/internal/cli", "hints on Python programs", err, "install python3")
				notrun.Skip(t)
			}
			bare, err := task.New(task.Spec{Name: "t", Language: tt.language, Initial: tt.program, Evaluator: eval.Func(
				func(context.Context, string) (eval.Result, error) { return eval.Result{}, nil })})
			if err != nil {
				t.Fatal(err)
			}
			ended := 0
			end := func() error { ended++; return nil }
			if off, _, err := (&Options{}).WithHints(t.Context(), bare, end); err != nil || off != bare {
				t.Errorf("%s: without the flag the task is %v, %v", tt.language, off, err)
			}
			hinted, stop, err := (&Options{Hints: true}).WithHints(t.Context(), bare, end)
			var usage *UsageError
			if tt.shown == "" {
				if !errors.As(err, &usage) || ended != 1 {
					t.Errorf("%s: %v, ended %d times, want a usage error, and once", tt.language, err, ended)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := hinted.Prompt(task.Request{})[0].Content; !strings.Contains(got, tt.shown) {
				t.Errorf("%s: the prompt is\n%s", tt.language, got)
			}
			if err := stop(); err != nil || ended != 1 {
				t.Errorf("%s: %v, ended %d times", tt.language, err, ended)
			}
		})
	}
}
