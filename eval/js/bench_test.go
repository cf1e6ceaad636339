package js_test

import (
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/eval/js"
)

// BenchmarkRun runs the program that circle packing starts from: with "fresh" in a new machine each time, and with
// "kept" as a runner does.
func BenchmarkRun(b *testing.B) {
	program, err := os.ReadFile("../../task/geometry/initial/cp.js")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"fresh", "kept"} {
		b.Run(name, func(b *testing.B) {
			r := newRunner(b, js.Config{})
			for b.Loop() {
				if name == "fresh" {
					r = newRunner(b, js.Config{})
				}
				if _, err := r.Run(b.Context(), string(program), "pack"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evals/s")
		})
	}
}
