package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// length scores a program by its length.
var length = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
	return eval.Result{Valid: true, Score: float64(len(program))}, nil
})

func TestNewChecks(t *testing.T) {
	good := Spec{Name: "a", Initial: "x", Evaluator: length}
	tests := []struct {
		change       func(*Spec)
		want, reason string
	}{
		{func(s *Spec) {}, "", "the least there has to be"},
		{func(s *Spec) { s.Name = "cp-26_v1.2" }, "", "signs that paths and flags bear"},
		{func(s *Spec) { s.Name = "größe" }, "", "letters of any script"},
		{func(s *Spec) { s.Name = "" }, "Spec.Name is empty", "nothing to call it"},
		{func(s *Spec) { s.Name = "a/b" }, `Spec.Name is "a/b"`, "two elements of a path"},
		{func(s *Spec) { s.Name = ".." }, `Spec.Name is ".."`, "leads out of the results' folder"},
		{func(s *Spec) { s.Name = ".a" }, `Spec.Name is ".a"`, "a hidden folder"},
		{func(s *Spec) { s.Name = "-a" }, `Spec.Name is "-a"`, "looks like a flag"},
		{func(s *Spec) { s.Name = "a." }, `Spec.Name is "a."`, "not every system keeps the dot"},
		{func(s *Spec) { s.Name = "a b" }, `Spec.Name is "a b"`, "a space needs quoting"},
		{func(s *Spec) { s.Name = "a\xff" }, `Spec.Name is "a\xff"`, "not UTF-8"},
		{func(s *Spec) { s.Name = strings.Repeat("a", 101) }, "101 bytes", "too long with what is added"},
		{func(s *Spec) { s.Initial = " \n" }, "Spec.Initial is empty", "no program"},
		{func(s *Spec) { s.Initial = "a\x00" }, "Spec.Initial: byte 1 is NUL", "cannot be run or journaled"},
		{func(s *Spec) { s.System = "a\xff" }, "Spec.System: byte 1 is 0xff", "the endpoint would see another text"},
		{func(s *Spec) { s.Evaluator = nil }, "Spec.Evaluator is nil", "nothing to score with"},
		{func(s *Spec) { s.Language = "c++" }, "", "a tag with signs"},
		{func(s *Spec) { s.Language = "java script" }, `Spec.Language is "java script"`, "two words"},
		{func(s *Spec) { s.Language = "`" }, "Spec.Language is \"`\"", "would break the fence"},
		{func(s *Spec) { s.Ext = ".d.ts" }, "", "an ending may have two dots"},
		{func(s *Spec) { s.Ext = "js" }, `Spec.Ext is "js"`, "the dot is missing"},
		{func(s *Spec) { s.Ext = "./js" }, `Spec.Ext is "./js"`, "a path"},
		{func(s *Spec) { s.Ext = "." }, `Spec.Ext is "."`, "nothing after the dot"},
		{func(s *Spec) { s.Feedback = -1 }, "Spec.Feedback is -1", "not a size"},
	}
	for _, tt := range tests {
		s := good
		tt.change(&s)
		_, err := New(s)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("New(%+v): %v: %s", s, err, tt.reason)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(err.Error(), "task: ")):
			t.Errorf("New(%+v): error %v, want one with %s: %s", s, err, tt.want, tt.reason)
		}
	}
}

// bare has the methods of a Task and no others.
type bare struct{ Task }

// wrapped is a task that changes one thing and lets Ext look through it.
type wrapped struct{ Task }

func (w wrapped) Unwrap() Task { return w.Task }

type odd struct{ Task }

func (odd) Ext() string { return "../x" }

func TestExt(t *testing.T) {
	of := func(language, ext string) Task {
		task, err := New(Spec{Name: "a", Language: language, Ext: ext, Initial: "x", Evaluator: length})
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	tests := []struct {
		task         Task
		want, reason string
	}{
		{of("javascript", ""), ".js", "by language"},
		{of("PY", ""), ".py", "by another name of the language"},
		{of("brainfuck", ""), ".txt", "not known"},
		{of("", ""), ".txt", "no language"},
		{of("javascript", ".mjs"), ".mjs", "as given"},
		{bare{of("go", "")}, ".txt", "a task of another make has no ending"},
		{wrapped{of("go", "")}, ".go", "a wrapper that unwraps has the ending of what is inside"},
		{wrapped{wrapped{of("go", "")}}, ".go", "at any depth"},
		{WithEvaluator(of("go", ""), length), ".go", "as does WithEvaluator's"},
		{odd{of("go", "")}, ".txt", "an ending that leads elsewhere is none"},
		{wrapped{nil}, ".txt", "nothing inside"},
		{nil, ".txt", "no task"},
	}
	for _, tt := range tests {
		if got := Ext(tt.task); got != tt.want {
			t.Errorf("Ext(%v) = %q, want %q: %s", tt.task, got, tt.want, tt.reason)
		}
	}
}

func TestWithEvaluator(t *testing.T) {
	in, err := New(Spec{Name: "a", Language: "js", System: "sys", Initial: "x", Evaluator: length})
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("down")
	out := WithEvaluator(in, eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{}, failure
	}))
	if _, err := out.Evaluate(t.Context(), "x"); !errors.Is(err, failure) {
		t.Errorf("Evaluate: %v, want the other evaluator's", err)
	}
	if r, err := in.Evaluate(t.Context(), "xyz"); r.Score != 3 || err != nil {
		t.Errorf("the task itself changed: %v, %v", r, err)
	}
	if out.Name() != "a" || out.Initial() != "x" || fmt.Sprint(out.Prompt(Request{})) != fmt.Sprint(in.Prompt(Request{})) {
		t.Errorf("the rest of the task changed: %v", out)
	}
	if p, err := out.Parse("```js\ny\n```"); p != "y" || err != nil {
		t.Errorf("Parse = %q, %v", p, err)
	}
	for _, bad := range []func(){func() { WithEvaluator(nil, length) }, func() { WithEvaluator(in, nil) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for nil")
				}
			}()
			bad()
		}()
	}
}
