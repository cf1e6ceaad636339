package folder_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

// What a folder says is there to look at, and to change, before anything is run.
func ExampleRead() {
	f, err := folder.Read("testdata/tour", folder.Config{})
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Spec.Name, f.Spec.Language, f.Spec.Diffs)
	fmt.Println(f.Evaluation.Timeout, f.Evaluation.Thresholds)
	// Output:
	// tour python false
	// 30s [0.3 0.4]
}

// Settings that have no effect here are named.
func ExampleFolder() {
	f, err := folder.Read("testdata/mixture", folder.Config{})
	if err != nil {
		panic(err)
	}
	for _, w := range f.Warnings {
		fmt.Println(w)
	}
	// Output: file_suffix is .py, but the initial program's is .json, which counts
}

// What a folder leaves out has a default, and what it says can be changed before it becomes a task.
func ExampleFolder_spec() {
	f, err := folder.Read("testdata/bins", folder.Config{Name: "packing"})
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Spec.System != "", f.Evaluation.Timeout)
	f.Spec.System += " Bins are one unit wide."
	f.Spec.Evaluator = eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Invalid("not yet"), nil
	})
	t, err := task.New(f.Spec)
	fmt.Println(t, err)
	// Output:
	// true 5m0s
	// Task(packing, python) <nil>
}

// Scores may be kept from one run to the next for as long as the fingerprint is the same. It does not depend
// on the initial program, which a run replaces anyway, nor on where the folder lies.
func ExampleFolder_fingerprint() {
	scores := make(map[string]float64) // by fingerprint and program
	for range 2 {
		f, err := folder.Read("testdata/tour", folder.Config{})
		if err != nil {
			panic(err)
		}
		key := f.Fingerprint + f.Spec.Initial
		_, known := scores[key]
		fmt.Println(len(f.Fingerprint), "hex digits, known:", known)
		scores[key] = 0.5
	}
	// Output:
	// 16 hex digits, known: false
	// 16 hex digits, known: true
}

// A folder with several programs or settings says which are meant.
func ExampleConfig() {
	_, err := folder.Read("testdata/tour", folder.Config{Settings: "config_phase_2.yaml"})
	fmt.Println(err)
	// Output: folder: testdata/tour: there is no config_phase_2.yaml, only config.yaml, evaluator.py, initial.py
}

// How evaluator.py is to be run: a stage without a threshold is the last.
func ExampleEvaluation() {
	f, err := folder.Read("testdata/bins", folder.Config{})
	if err != nil {
		panic(err)
	}
	e := f.Evaluation
	fmt.Println(e.Suffix, e.Timeout, e.NoCascade, e.Thresholds)
	// Output: .py 5m0s false [0.5 0.75 0.9]
}

// A folder's evaluator.py runs in Python, contained, with the limits that its config.yaml names. This
// wants Strict containment, and two evaluations at once.
func ExampleLoad() {
	ctx := context.Background()
	t, err := folder.Load(ctx, "testdata/bins", folder.Config{
		Python: python.Config{Isolation: isolation.Strict, Workers: 2},
	})
	if err != nil {
		fmt.Println(err) // which names what is missing
		return
	}
	defer t.Close()
	fmt.Println(t.Evaluate(ctx, t.Initial()))
}

// The task of a folder may be scored by something other than its evaluator.py.
func ExampleTask() {
	short := func(_ context.Context, program string) (eval.Result, error) {
		return eval.Result{Valid: true, Score: -float64(strings.Count(program, "\n"))}, nil
	}
	t, err := folder.Load(context.Background(), "testdata/mixture", folder.Config{
		Settings: "config.yaml",
		Evaluator: func(context.Context, folder.Evaluation) (eval.Evaluator, error) {
			return eval.Func(short), nil
		},
	})
	if err != nil {
		panic(err)
	}
	r, err := t.Evaluate(context.Background(), t.Initial())
	fmt.Println(t.Name(), r.Score, err, t.Close())
	// Output: mixture -6 <nil> <nil>
}
