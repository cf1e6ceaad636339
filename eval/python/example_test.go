package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/eval/python"
)

// The score is computed in Go, from what the program returned.
func ExampleRunner() {
	ctx := context.Background()
	r, err := python.NewRunner(ctx, python.Config{Imports: []string{"numpy"}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	e := eval.Scored(r, "points", func(out json.RawMessage) eval.Result {
		var xs []float64
		if err := json.Unmarshal(out, &xs); err != nil {
			return eval.Invalid("want a list of numbers: %v", err)
		}
		return eval.Result{Score: xs[len(xs)-1], Valid: true}
	})
	for _, program := range []string{
		"import numpy as np\ndef points(): return np.linspace(0, 1, 11) ** 2",
		"def points(): return [1 / 0]",
	} {
		res, err := e.Evaluate(ctx, program)
		fmt.Println(res.Score, res.Valid, res.Reason, err)
	}
	// Output:
	// 1 true  <nil>
	// 0 false ZeroDivisionError: division by zero (line 1) <nil>
}

// A folder's evaluator.py is run as it is.
func ExampleEvaluator() {
	dir, err := os.MkdirTemp("", "task")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const evaluator = `
import runpy

def evaluate(program_path):
    x = runpy.run_path(program_path)["X"]
    return {"combined_score": -(x - 3) ** 2, "x": x}
`
	if err := os.WriteFile(filepath.Join(dir, "evaluator.py"), []byte(evaluator), 0o644); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	e, err := python.NewEvaluator(ctx, dir,
		python.EvaluatorConfig{Config: python.Config{Logger: slog.New(slog.DiscardHandler)}})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	res, err := e.Evaluate(ctx, "X = 2.5")
	fmt.Println(res.Score, res.Metrics, err)
	// Output:
	// -0.25 map[combined_score:-0.25 x:2.5] <nil>
}

func ExampleFind() {
	if _, err := python.Find(context.Background(), "json", "math"); err != nil {
		fmt.Println(err) // says which interpreters were tried and what each lacked
	}
	// Output:
}

// A limit that is reached is the program's fault, with a reason.
func ExampleConfig() {
	ctx := context.Background()
	r, err := python.NewRunner(ctx, python.Config{Memory: 64 << 20, Isolation: isolation.BestEffort,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	_, err = r.Run(ctx, "def run(): return len(bytearray(1 << 30))", "run")
	var bad *eval.ProgramError
	fmt.Println(errors.As(err, &bad), bad)
	// Output:
	// true ran out of memory (64 MiB allowed): MemoryError (line 1); evaluator.memory_limit_mb in config.yaml, or Config.Memory, allows more
}

// A service that is going down closes its runner while candidates may be running: that is no fault of theirs.
func ExampleErrClosed() {
	ctx := context.Background()
	r, err := python.NewRunner(ctx, python.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	r.Close()
	_, err = r.Run(ctx, "def run(): return 1", "run")
	var bad *eval.ProgramError
	if errors.Is(err, python.ErrClosed) && !errors.As(err, &bad) {
		fmt.Println("not run")
	}
}

func ExampleEvaluatorConfig() {
	_, err := python.NewEvaluator(context.Background(), "nonexistent", python.EvaluatorConfig{
		Thresholds: []float64{0.5, 0.8}, // a program must reach 0.5 in stage 1 to get to stage 2, and then 0.8
		Suffix:     ".rs",
	})
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output:
	// true
}
