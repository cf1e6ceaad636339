package timing_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/eval/timing"
)

// Squares of NumPy arrays, compared with a loop.
func Example() {
	ctx := context.Background()
	interpreter, err := python.Find(ctx, "numpy")
	if err != nil {
		fmt.Println(err)
		return
	}
	machine, err := timing.NewMachine(timing.MachineConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := machine.Evaluator(ctx, timing.Config{
		Build:    timing.Python(interpreter, "square"),
		Baseline: "def square(x, out):\n    for i in range(len(x)):\n        out[i] = x[i] * x[i]\n",
		Input: func(r *rand.Rand) []byte {
			xs := make([]float64, 20_000)
			for i := range xs {
				xs[i] = r.NormFloat64()
			}
			return timing.Floats(xs)
		},
		Check: timing.Close(1e-12, 0),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := e.Evaluate(ctx, "import numpy\ndef square(x, out):\n    numpy.multiply(x, x, out=out)\n")
	fmt.Println(r.Valid, r.Score > 5, err)
	r, err = e.Evaluate(ctx, "def square(x, out):\n    pass\n")
	fmt.Println(r.Valid, r.Reason[:16], err)
	// Output:
	// true true <nil>
	// false answered wrongly <nil>
}
