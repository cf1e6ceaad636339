package presets

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
)

// A search with a window whose children are taken as they end keeps 16 slots busy: calls take some seconds to a minute,
// as those of models do. With the order of indices it waits for the oldest, and without a window for each step's slowest.
func TestSlotsAreBusy(t *testing.T) {
	for _, p := range Presets {
		for _, tt := range []struct {
			n, window int
			order     evolve.Order
			least     float64
		}{{16, 0, evolve.ByIndex, 0.3}, {160, 16, evolve.ByIndex, 0.3}, {160, 16, evolve.AsTheyEnd, 0.6}} {
			share := 0.0
			synctest.Test(t, func(t *testing.T) {
				share = busy(t, p, population.Config{N: tt.n, Window: tt.window, Order: tt.order}, 640)
			})
			t.Logf("%-12s N %3d, window %2d, %v: %.2f of 16 slots busy", p.Name, tt.n, tt.window, tt.order, share)
			if share < tt.least {
				t.Errorf("%s, N %d, window %d, %v: %.2f of 16 slots are busy", p.Name, tt.n, tt.window, tt.order, share)
			}
		}
	}
}

// busy returns the share of 16 slots that are busy while a search makes so many calls.
func busy(t *testing.T, p Preset, s population.Config, calls int) float64 {
	var work atomic.Int64 // nanoseconds
	slow := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		pause := time.Duration(10 * math.Exp(0.6*stream.New(uint64(req.Seed), "slow",
			0).NormFloat64()) * float64(time.Second))
		time.Sleep(pause)
		work.Add(int64(pause))
		return mover(ctx, req)
	})
	s.Task, s.LLM, s.Seed = newSixNumbers(t), llm.Limit(slow, 16), 3
	arm, err := p.New(s)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: calls}})
	if err != nil || res.Calls != calls {
		t.Fatalf("%s: %d calls, %v", p.Name, res.Calls, err)
	}
	return time.Duration(work.Load()).Seconds() / 16 / time.Since(start).Seconds()
}
