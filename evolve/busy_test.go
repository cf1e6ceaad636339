package evolve_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A busyModel answers after 200 ms at the median and turns this share of its attempts away at once. It notes how many
// children have been asked for and not answered yet.
type busyModel struct {
	share   float64
	refusal llm.Error

	mu   sync.Mutex
	sent map[uint32]int // attempts, by seed
	open map[uint32]bool
	most int
}

func newBusyModel(share float64, refusal llm.Error) *busyModel {
	return &busyModel{share: share, refusal: refusal, sent: map[uint32]int{}, open: map[uint32]bool{}}
}

func (b *busyModel) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	b.mu.Lock()
	k := b.sent[req.Seed]
	b.sent[req.Seed]++
	b.open[req.Seed] = true
	b.most = max(b.most, len(b.open))
	b.mu.Unlock()
	u := rand.New(rand.NewPCG(uint64(req.Seed), uint64(k)))
	if u.Float64() < b.share {
		if k == llm.DefaultRetries { // it is given up
			b.done(req.Seed)
		}
		err := b.refusal
		err.Err = errors.New("busy")
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: err.Kind, MaxTokens: 100}}}, &err
	}
	select {
	case <-time.After(heavyTail.Draw(u)):
	case <-ctx.Done():
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 100, Err: "canceled"}}}, ctx.Err()
	}
	b.done(req.Seed)
	return climber(ctx, req)
}

func (b *busyModel) done(seed uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, seed)
}

var (
	rateLimited = llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Code: 429, RetryAfter: time.Second}
	overloaded  = llm.Error{Status: llm.Failed, Kind: llm.KindServer, Code: 503}
)

// An endpoint that turns some attempts away makes a run longer by little more than the pauses that it asks for.
func TestBusyEndpoint(t *testing.T) {
	const calls = 512
	for _, tt := range []struct {
		search    string
		n, window int
		share     float64
		refusal   llm.Error
		most      float64 // times as long as without a refusal
	}{
		{"generations", 16, 0, 0.1, rateLimited, 1.6},
		{"generations", 16, 0, 0.3, overloaded, 2.4},
		{"steady", calls, 16, 0.1, rateLimited, 1.1},
		{"steady", calls, 16, 0.3, overloaded, 1.7},
	} {
		took := func(share float64) (d time.Duration) {
			synctest.Test(t, func(t *testing.T) {
				begin, model := time.Now(), newBusyModel(share, tt.refusal)
				l := llm.Retry(llm.Limit(model, 16), llm.RetryConfig{})
				g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: tt.n, Window: tt.window,
					Order: evolve.AsTheyEnd, Seed: 40})
				if res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g},
					Budget: evolve.Budget{Calls: calls}}); res.Calls != calls {
					t.Errorf("%d calls answered", res.Calls)
				}
				d = time.Since(begin)
			})
			return d
		}
		free, busy := took(0), took(tt.share)
		ratio := busy.Seconds() / free.Seconds()
		t.Logf("%s, %.0f %% of %d: %v, without %v: %.2f times", tt.search, 100*tt.share, tt.refusal.Code, busy, free, ratio)
		if ratio > tt.most {
			t.Errorf("%s with %.0f %% of %d take %.2f times as long as without, want at most %.1f", tt.search, 100*tt.share,
				tt.refusal.Code, ratio, tt.most)
		}
	}
}
