package js_test

import (
	"context"
	"os"
	"testing"

	"modernc.org/quickjs"

	"github.com/evoalloc/evoalloc/eval/js"
)

// BenchmarkRun runs the program that circle packing starts from: with "bare" in a new machine of the
// wrapper that the engine's authors publish, without any limit, and with "runner" here.
func BenchmarkRun(b *testing.B) {
	source, err := os.ReadFile("../../task/geometry/initial/cp.js")
	if err != nil {
		b.Fatal(err)
	}
	program := string(source)
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			vm, err := quickjs.NewVM()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := vm.Eval(program+"\nJSON.stringify(pack())", quickjs.EvalGlobal); err != nil {
				b.Fatal(err)
			}
			if err := vm.Close(); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
	b.Run("runner", func(b *testing.B) {
		r, err := js.New(js.Config{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := r.Run(context.Background(), program, "pack"); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
}

func perSecond(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evals/s") }
