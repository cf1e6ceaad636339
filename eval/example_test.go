package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// length scores a program by how short it is.
func length(_ context.Context, program string) (eval.Result, error) {
	if program == "" {
		return eval.Invalid("there is no program"), nil
	}
	return eval.Result{Valid: true, Score: -float64(len(program))}, nil
}

// An Evaluator says what a program is worth, or why it is worth nothing.
func ExampleEvaluator() {
	var e eval.Evaluator = eval.Func(length)
	for _, program := range []string{"f()", ""} {
		r, err := e.Evaluate(context.Background(), program)
		fmt.Println(r.Valid, r.Score, r.Reason, err)
	}
	// Output:
	// true -3  <nil>
	// false 0 there is no program <nil>
}

func ExampleFunc() {
	e := eval.Func(length)
	r, err := e.Evaluate(context.Background(), "f()")
	fmt.Println(r.Score, err)
	// Output:
	// -3 <nil>
}

func ExampleLimit() {
	e := eval.Limit(eval.Func(length), 2)
	r, err := e.Evaluate(context.Background(), "f()")
	fmt.Println(r.Score, err)
	// Output:
	// -3 <nil>
}

// echo is a Runner for programs that are JSON already.
type echo struct{}

func (echo) Run(_ context.Context, program, _ string) (json.RawMessage, error) {
	if !json.Valid([]byte(program)) {
		return nil, &eval.ProgramError{Reason: "is not JSON"}
	}
	return json.RawMessage(program), nil
}

// A program only returns data. The score is computed here, where the program cannot reach.
func ExampleScored() {
	e := eval.Scored(echo{}, "main", func(out json.RawMessage) eval.Result {
		var points []float64
		if err := json.Unmarshal(out, &points); err != nil {
			return eval.Invalid("not a list of numbers")
		}
		return eval.Result{Valid: true, Score: float64(len(points))}
	})
	for _, program := range []string{"[1, 2, 3]", "{}", "oops"} {
		r, err := e.Evaluate(context.Background(), program)
		fmt.Println(r.Valid, r.Score, r.Reason, err)
	}
	// Output:
	// true 3  <nil>
	// false 0 not a list of numbers <nil>
	// false 0 is not JSON <nil>
}

// A Runner tells programs at fault from faults of its own.
func ExampleRunner() {
	var r eval.Runner = echo{}
	out, err := r.Run(context.Background(), "[1]", "main")
	fmt.Printf("%s %v\n", out, err)
	// Output:
	// [1] <nil>
}

// A Runner of one's own tells what the program printed along with the reason. Scored passes both on, and
// an error of any other type as a failure of evaluation.
func ExampleProgramError() {
	var r eval.Runner = failing{&eval.ProgramError{
		Reason:    "threw TypeError: x is undefined",
		Artifacts: map[string]string{"console": "step 1\nstep 2"},
	}}
	score := func(json.RawMessage) eval.Result { return eval.Result{Valid: true} }
	res, err := eval.Scored(r, "main", score).Evaluate(context.Background(), "")
	fmt.Printf("%q %q %v\n", res.Reason, res.Artifacts["console"], err)

	r = failing{errors.New("no interpreter")}
	_, err = eval.Scored(r, "main", score).Evaluate(context.Background(), "")
	fmt.Println(err)
	// Output:
	// "threw TypeError: x is undefined" "step 1\nstep 2" <nil>
	// eval: running main: no interpreter
}

// failing is a Runner that fails.
type failing struct{ err error }

func (f failing) Run(context.Context, string, string) (json.RawMessage, error) { return nil, f.err }

// Whoever limits the time of an evaluation need not count that in which it waits for a place.
func ExampleLimit_trace() {
	begun, free := make(chan bool), make(chan bool)
	e := eval.Limit(eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		if program == "first" {
			begun <- true
			<-free // has the only place until the second waits
		}
		return eval.Result{Valid: true, Score: 1}, nil
	}), 1)
	var wg sync.WaitGroup
	wg.Go(func() { e.Evaluate(context.Background(), "first") })
	<-begun
	ctx := llm.WithTrace(context.Background(), &llm.Trace{Queued: func() (served func()) {
		fmt.Println("the clock stands still")
		free <- true
		return func() { fmt.Println("and goes on") }
	}})
	r, err := e.Evaluate(ctx, "second")
	fmt.Println(r.Score, err)
	wg.Wait()
	// Output:
	// the clock stands still
	// and goes on
	// 1 <nil>
}

// Clean makes any result fit to travel.
func ExampleResult_Clean() {
	zero := 0.0
	r := eval.Result{Valid: true, Score: 1 / zero}.Clean()
	fmt.Println(r.Valid, r.Score, r.Reason)
	// Output:
	// false 0 score is +Inf, not a finite number
}

// Of two candidates the one with the strictly higher score is better.
func ExampleCandidate_Better() {
	a := eval.Candidate{Program: "a", Result: eval.Result{Valid: true, Score: 1}}
	b := eval.Candidate{Program: "b", Result: eval.Result{Valid: true, Score: 1}}
	c := eval.Candidate{Program: "c", Result: eval.Invalid("loops")}
	fmt.Println(a.Better(b), a.Better(c), c.Better(a))
	// Output:
	// false true false
}

func ExampleInvalid() {
	fmt.Printf("%+v\n", eval.Invalid("circle %d overlaps", 3))
	// Output:
	// {Score:0 Valid:false Reason:circle 3 overlaps Metrics:map[] Artifacts:map[] Cases:[] Samples:<nil>}
}

func ExamplePrintable() {
	program := "return 1\x1b]52;c;cm0gLXJm\x07 // writes the clipboard\u202e"
	fmt.Println(eval.Printable(program))
	// Output: return 1 // writes the clipboard
}
