package runtest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// HeavyTail is the latency of a [Watched] model.
var HeavyTail = llmtest.LogNormal{Median: 200 * time.Millisecond, Sigma: 1, Cap: 5 * time.Second}

// Watched is a model each call of which takes a time drawn by its seed. It notes when calls begin and end.
type Watched struct {
	llm.LLM

	mu    sync.Mutex
	spans [][2]time.Time
}

// Generate waits, and asks the model.
func (w *Watched) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	begin := time.Now()
	time.Sleep(HeavyTail.Draw(rand.New(rand.NewPCG(uint64(req.Seed), 5))))
	w.mu.Lock()
	w.spans = append(w.spans, [2]time.Time{begin, time.Now()})
	w.mu.Unlock()
	return w.LLM.Generate(ctx, req)
}

// Busy returns the mean number of calls under way from the first until the last is sent.
func (w *Watched) Busy() float64 {
	first, last := w.spans[0][0], w.spans[0][0]
	for _, s := range w.spans {
		if s[0].Before(first) {
			first = s[0]
		}
		if s[0].After(last) {
			last = s[0]
		}
	}
	var sum time.Duration
	for _, s := range w.spans {
		end := s[1]
		if end.After(last) {
			end = last
		}
		sum += end.Sub(s[0])
	}
	return sum.Seconds() / last.Sub(first).Seconds()
}
