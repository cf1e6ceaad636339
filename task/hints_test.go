package task_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// hinting is a task whose programs are text, for hints to be shown in its prompt.
func hinting(t testing.TB) task.Task {
	t.Helper()
	made, err := task.New(task.Spec{Name: "hinted", Initial: "start", Evaluator: eval.Func(
		func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true, Score: 1}, nil })})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func promptOf(t task.Task, programs ...string) string {
	var ask task.Request
	for _, p := range programs {
		ask.Parents = append(ask.Parents, eval.Candidate{Program: p, Result: eval.Result{Valid: true}})
	}
	messages := t.Prompt(ask)
	return messages[len(messages)-1].Content
}

// Whatever hints do, the prompt is the task's with nothing but hints beside its programs.
func TestHintsCostNothingButThemselves(t *testing.T) {
	bare := hinting(t)
	long := strings.Repeat("long ", 1000)
	for _, tt := range []struct {
		why   string
		hints task.HintsFunc
		want  string // between the program and the instruction
	}{
		{"they panic", func(string) ([]task.Hint, error) { panic("boom") }, ""},
		{"they fail, so that what they return is not known to be right", func(string) ([]task.Hint, error) {
			return []task.Hint{{Text: "half"}}, errors.New("boom")
		}, ""},
		{"there are none", func(string) ([]task.Hint, error) { return nil, nil }, ""},
		{"a text would open a block and end the line", func(string) ([]task.Hint, error) {
			return []task.Hint{{Line: 2, Text: "a\n```\nb\x1b[2J"}}, nil
		}, "Seen in the text of the program, without running it:\n\n> line 2: a ``` b\n\n"},
		{"a text is long", func(string) ([]task.Hint, error) { return []task.Hint{{Text: long}}, nil },
			"Seen in the text of the program, without running it:\n\n> " + long[:157] + "...\n\n"},
		{"a weight and a line that cannot be, and one twice", func(string) ([]task.Hint, error) {
			return []task.Hint{{Line: -3, Text: "a", Weight: math.NaN()}, {Text: "a"}, {Line: 1, Text: " "}}, nil
		}, "Seen in the text of the program, without running it:\n\n> a\n\n"},
	} {
		got, plain := promptOf(task.WithHints(bare, tt.hints), "program"), promptOf(bare, "program")
		if tt.want != "" && !strings.Contains(got, tt.want) || strings.Replace(got, tt.want, "", 1) != plain {
			t.Errorf("%s: the prompt is %q, want %q and %q in it", tt.why, got, plain, tt.want)
		}
	}
}

// The heaviest are shown, the heaviest last.
func TestPromptShowsTheHeaviestHints(t *testing.T) {
	long := strings.Repeat("long ", 100)
	hinted := task.WithHints(hinting(t), task.HintsFunc(func(string) (hints []task.Hint, err error) {
		for i := range 30 {
			hints = append(hints, task.Hint{Line: i + 1, Text: fmt.Sprintf("of weight %02d %s", i, long[:140]),
				Weight: float64(i) / 30})
		}
		return hints, nil
	}))
	got := promptOf(hinted, "program")
	first, last := strings.Index(got, "> line 19: of weight 18"), strings.Index(got, "> line 30: of weight 29")
	if first < 0 || last < first || strings.Contains(got, "line 18") {
		t.Errorf("the prompt is\n%s", got)
	}
}

// Each parent has its own hints, and without parents the initial program has.
func TestHintsStandBesideTheirProgram(t *testing.T) {
	calls := 0
	hinted := task.WithHints(hinting(t), task.HintsFunc(func(p string) ([]task.Hint, error) {
		calls++
		return []task.Hint{{Text: "this is " + p}}, nil
	}))
	for range 2 {
		got := promptOf(hinted, "one", "two")
		if !strings.Contains(got, "of program 1, without running it:\n\n> this is one\n") ||
			!strings.Contains(got, "of program 2, without running it:\n\n> this is two\n") {
			t.Errorf("the prompt is\n%s", got)
		}
	}
	if calls != 2 {
		t.Errorf("two programs were read %d times", calls)
	}
	if got := promptOf(hinted); !strings.Contains(got, "this is start") {
		t.Errorf("without parents the prompt is\n%s", got)
	}
	twice := task.WithHints(hinted, task.HintsFunc(func(p string) ([]task.Hint, error) {
		return []task.Hint{{Text: "and " + p}}, nil
	}))
	if got := promptOf(twice, "x"); strings.Index(got, "> and x\n") < strings.Index(got, "> this is x\n") ||
		!strings.Contains(got, "> and x\n") {
		t.Errorf("with hints of two kinds the prompt is\n%s", got)
	}
}

// parted is a task with everything that is optional.
type parted struct{ task.Task }

func (parted) Fingerprint() string                             { return "scores" }
func (parted) Ext() string                                     { return ".odd" }
func (parted) PartNames(string) []string                       { return []string{"all"} }
func (parted) Parts(string, int) ([]eval.Evaluator, error)     { return nil, nil }
func (parted) Join(string, []eval.Result) (eval.Result, error) { return eval.Result{Score: 7}, nil }
func (parted) HeldOut(context.Context, string) (eval.Result, error) {
	return eval.Result{Score: 8}, nil
}

func TestWithHintsKeepsWhatATaskCan(t *testing.T) {
	none := task.HintsFunc(func(string) ([]task.Hint, error) { return nil, nil })
	hinted := task.WithHints(parted{hinting(t)}, none)
	if c, ok := hinted.(eval.Composite); !ok {
		t.Error("a task with parts has none with hints")
	} else if r, err := c.Join("", nil); err != nil || r.Score != 7 {
		t.Errorf("Join returns %v, %v", r, err)
	}
	if _, ok := task.WithHints(hinting(t), none).(eval.Composite); ok {
		t.Error("a task without parts has some with hints")
	}
	if _, ok := task.As[task.Partitioner](hinted); !ok || task.Ext(hinted) != ".odd" {
		t.Error("the parts of programs or their ending are lost")
	}
	if _, ok := task.As[task.ReplyParser](task.WithHints(hinting(t), none)); !ok {
		t.Error("the forms are lost")
	}
	if r, ok, err := task.HeldOut(t.Context(), hinted, "x"); !ok || err != nil || r.Score != 8 {
		t.Errorf("HeldOut returns %v, %v, %v", r, ok, err)
	}
	over := task.WithEvaluator(hinted, eval.Limit(hinted, 1))
	f, ok := task.As[interface{ Fingerprint() string }](over)
	if want := "scores with sections of hints task.HintsFunc"; !ok || f.Fingerprint() != want {
		t.Errorf("the fingerprint is not %q", want)
	}
}

func ExampleWithHints() {
	longest := task.HintsFunc(func(program string) ([]task.Hint, error) {
		if len(program) > 10 {
			return []task.Hint{{Text: fmt.Sprintf("the program has %d bytes", len(program)), Weight: 0.1}}, nil
		}
		return nil, nil
	})
	t, err := task.New(task.Spec{Name: "golf", Initial: "print(1 + 1)", Evaluator: eval.Func(
		func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(task.WithHints(t, longest).Prompt(task.Request{})[0].Content)
	// Output:
	// Current program:
	//
	// ```
	// print(1 + 1)
	// ```
	//
	// Seen in the text of the program, without running it:
	//
	// > the program has 12 bytes
	//
	// Rewrite the program to raise its score.
	// Reply with one complete program in one fenced block.
}
