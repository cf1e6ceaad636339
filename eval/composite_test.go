package eval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// sides is a composite of one part for each letter of its text: whether the program has it.
type sides string

// A letter is one part.
type letter byte

func (l letter) String() string { return "letter " + string(l) }

func (l letter) Evaluate(_ context.Context, program string) (eval.Result, error) {
	score := float64(strings.Count(program, string(l)))
	return eval.Result{Valid: true, Score: score}, nil
}

func (s sides) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return eval.Compose(ctx, s, program)
}

func (s sides) Parts(program string, _ int) ([]eval.Evaluator, error) {
	if program == "" {
		return nil, &eval.ProgramError{Reason: "it is empty"}
	}
	var parts []eval.Evaluator
	for _, b := range []byte(s) {
		parts = append(parts, letter(b))
	}
	return parts, nil
}

func (s sides) Join(_ string, parts []eval.Result) (eval.Result, error) {
	r := eval.Result{Valid: true}
	for _, p := range parts {
		r.Cases = append(r.Cases, p.Score)
		r.Score += p.Score / float64(len(parts))
	}
	return r, nil
}

// A composite is evaluated part by part, and by hand like any other evaluator.
func ExampleComposite() {
	for _, program := range []string{"banana", ""} {
		r, err := sides("abn").Evaluate(context.Background(), program)
		fmt.Println(r.Valid, r.Score, r.Cases, r.Reason, err)
	}
	// Output:
	// true 2 [3 1 2]  <nil>
	// false 0 [] it is empty <nil>
}

// Compose is what the Evaluate of a composite calls.
func ExampleCompose() {
	r, err := eval.Compose(context.Background(), sides("an"), "banana")
	fmt.Println(r.Score, err)
	// Output: 2.5 <nil>
}

// A part may be evaluated by something else than itself: a memory, a budget.
func ExampleComposeBy() {
	known := map[eval.Evaluator]eval.Result{letter('a'): {Valid: true, Score: 10}}
	r, err := eval.ComposeBy(sides("a"), "banana", 0, func(part eval.Evaluator) (eval.Result, error) {
		return known[part], nil
	}, nil)
	fmt.Println(r.Score, err)
	// Output: 10 <nil>
}

// After a part that fails no more are begun, but for an error that lets the others go on.
func TestComposeFails(t *testing.T) {
	many := sides(strings.Repeat("a", 200))
	wrong := errors.New("no such thing")
	for _, goOn := range []bool{false, true} {
		var begun atomic.Int64
		_, err := eval.ComposeBy(many, "b", 0, func(eval.Evaluator) (eval.Result, error) {
			begun.Add(1)
			return eval.Result{}, wrong
		}, func(error) bool { return goOn })
		if !errors.Is(err, wrong) || (begun.Load() == 200) != goOn {
			t.Errorf("goes on %v: %d parts were begun: %v", goOn, begun.Load(), err)
		}
	}
}

// What a part panics with reaches the caller, who can guard against it.
func TestComposePanics(t *testing.T) {
	defer func() {
		if v := recover(); v != "broken" {
			t.Errorf("it panics with %v", v)
		}
	}()
	eval.ComposeBy(sides("ab"), "b", 0, func(eval.Evaluator) (eval.Result, error) { panic("broken") }, nil)
	t.Error("it does not panic")
}

// Parts behind a limit keep to it, and stay equal and named as they are.
func TestLimitOfComposite(t *testing.T) {
	l, ok := eval.Limit(sides("abc"), 1).(eval.Composite)
	if !ok {
		t.Fatal("a limit of a composite is none")
	}
	one, err := l.Parts("x", 0)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := l.Parts("x", 0)
	if !slices.Equal(one, two) || fmt.Sprint(one[0]) != "letter a" {
		t.Errorf("parts %v and %v, want equal ones that print as they are", one, two)
	}
	r, err := l.Evaluate(t.Context(), "aab")
	if err != nil || !slices.Equal(r.Cases, []float64{2, 1, 0}) {
		t.Errorf("cases %v, %v", r.Cases, err)
	}
}

// halves is a composite of two composites.
type halves struct{ sides }

func (h halves) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return eval.Compose(ctx, h, program)
}

func (h halves) Parts(string, int) ([]eval.Evaluator, error) {
	n := len(h.sides) / 2
	return []eval.Evaluator{h.sides[:n], h.sides[n:]}, nil
}

// Parts of parts behind a limit of one neither wait for themselves nor hide what they consist of.
func TestLimitOfNestedComposite(t *testing.T) {
	l := eval.Limit(halves{"abcd"}, 1)
	r, err := l.Evaluate(t.Context(), "aab")
	if err != nil || !slices.Equal(r.Cases, []float64{1.5, 0}) {
		t.Errorf("cases %v, %v", r.Cases, err)
	}
	parts, err := l.(eval.Composite).Parts("aab", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if _, ok := p.(eval.Composite); !ok {
			t.Errorf("part %v is a %T: a run cannot evaluate its parts", p, p)
		}
	}
}
