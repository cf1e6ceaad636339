package geometry_test

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// BenchmarkEvaluate evaluates the program that each problem starts from: "one" after the other,
// "parallel" on all cores, and "score" only what it returned, which is the part done in Go.
func BenchmarkEvaluate(b *testing.B) {
	runner, err := js.New(js.Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	for _, p := range geometry.Problems() {
		task, err := p.Task(runner, "javascript")
		if err != nil {
			b.Fatal(err)
		}
		evaluate := func() {
			if r, err := task.Evaluate(ctx, task.Initial()); err != nil || !r.Valid {
				b.Errorf("%+v, error %v", r, err)
			}
		}
		b.Run(p.Key+"/one", func(b *testing.B) {
			for b.Loop() {
				evaluate()
			}
			perSecond(b)
		})
		b.Run(p.Key+"/parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					evaluate()
				}
			})
			perSecond(b)
		})
		b.Run(p.Key+"/score", func(b *testing.B) {
			out, err := runner.Run(ctx, task.Initial(), p.Entry)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if r := p.Score(out); !r.Valid {
					b.Fatal(r.Reason)
				}
			}
			perSecond(b)
		})
	}
}

func perSecond(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evals/s") }
