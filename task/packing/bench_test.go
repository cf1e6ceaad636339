package packing

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/eval/js"
)

// tight is a rule of some size, such as a search comes to.
const tight = `function priority(item, room) {
  const left = room - item;
  if (left <= 2) return 4;
  if (left <= 7) return 1 / (left + 1);
  return left > 20 ? 0.1 : -left / 100;
}`

// BenchmarkEvaluate evaluates a rule: "one" after the other, "parallel" on all cores, and "score" only what it
// returned, which is the part done in Go.
func BenchmarkEvaluate(b *testing.B) {
	runner, err := js.New(js.Config{})
	if err != nil {
		b.Fatal(err)
	}
	task, err := Weibull().Task(runner, "javascript")
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	evaluate := func() {
		if r, err := task.Evaluate(ctx, tight); err != nil || !r.Valid {
			b.Errorf("%+v, error %v", r, err)
		}
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			evaluate()
		}
		perSecond(b)
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				evaluate()
			}
		})
		perSecond(b)
	})
	b.Run("score", func(b *testing.B) {
		out, err := tabulating{runner, "javascript"}.Run(ctx, tight, entry)
		if err != nil {
			b.Fatal(err)
		}
		s, err := newScorer(Weibull().Train)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if r := s.score(out); !r.Valid {
				b.Fatal(r.Reason)
			}
		}
		perSecond(b)
	})
}

func perSecond(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evals/s") }
