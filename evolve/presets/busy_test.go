package presets_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/presets"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// answered are squares whose evaluations are counted, by whether they are of a minibatch.
type answered struct {
	task.Task
	cases *atomic.Int64
}

func (a answered) Minibatch(i, n int) eval.Evaluator { return tallied{batch{i * n % all, n}, a.cases} }

// tallied is a batch whose cases are counted.
type tallied struct {
	batch
	cases *atomic.Int64
}

func (c tallied) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	c.cases.Add(int64(c.n))
	return c.batch.Evaluate(ctx, program)
}

// Of 16 slots GEPA keeps most busy where a step has more children than slots, and one where a step has one child. Latencies
// are exponential with a mean of a second.
func TestGEPAKeepsSlotsBusy(t *testing.T) {
	for _, tt := range []struct {
		n           int
		least, most float64
	}{{1, 0.05, 0.07}, {64, 0.5, 1}, {512, 0.7, 1}} {
		synctest.Test(t, func(t *testing.T) {
			plain := eight(t)
			m, err := offline.New(offline.Config{})
			if err != nil {
				t.Fatal(err)
			}
			var slept, cases atomic.Int64
			model := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				d := time.Duration(stream.New(uint64(req.Seed), "latency", 0).ExpFloat64() * float64(time.Second))
				slept.Add(int64(d))
				time.Sleep(d)
				return m.Generate(ctx, req)
			}), 16)
			of := task.WithEvaluator(answered{plain, &cases}, plain)
			s, err := population.New(presets.GEPA(population.Config{Task: of, LLM: model, N: tt.n, Seed: 40}))
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Calls: 512}})
			if err != nil {
				t.Fatal(err)
			}
			busy := float64(slept.Load()) / 16 / float64(time.Since(begin))
			t.Logf("N = %d: %.3f of 16 slots are busy, best %.2f, %.2f cases of minibatches a call", tt.n, busy,
				res.Best.Result.Score,
				float64(cases.Load())/float64(res.Calls))
			if busy < tt.least || busy > tt.most {
				t.Errorf("N = %d: %v of 16 slots are busy, want %v to %v", tt.n, busy, tt.least, tt.most)
			}
		})
	}
}
