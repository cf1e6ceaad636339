package openai_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// fleet is three servers, of which the second hangs while it is told to, and a pool of their clients.
type fleet struct {
	servers []*llmtest.Server
	hanging atomic.Bool
	pool    *pool.Pool
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{}
	cfg := pool.Config{Slots: 4, Quarantine: 200 * time.Millisecond}
	for i := range 3 {
		s := llmtest.NewServer(llmtest.Config{
			Latency: llmtest.Constant(20 * time.Millisecond),
			Fault: func(llmtest.Request) llmtest.Fault {
				if i == 1 && f.hanging.Load() {
					return "hang"
				}
				return ""
			},
		})
		t.Cleanup(s.Close)
		client, err := openai.New(openai.Config{BaseURL: s.URL, Model: llm.Model{Key: "m", Timeout: time.Second},
			Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		f.servers = append(f.servers, s)
		cfg.Endpoints = append(cfg.Endpoints, pool.Endpoint{Name: fmt.Sprint("gpu", i), LLM: client})
	}
	var err error
	if f.pool, err = pool.New(cfg); err != nil {
		t.Fatal(err)
	}
	return f
}

// load keeps twelve calls in flight until ctx ends, all of which must be answered, and returns the
// number of attempts that it took, and of those of them that the server that is well cannot know of.
func (f *fleet) load(ctx context.Context, t *testing.T) (attempts, unsent int) {
	model := llm.Retry(f.pool, llm.RetryConfig{Max: 20, Wait: 50 * time.Millisecond})
	var workers sync.WaitGroup
	var made, lost atomic.Int64
	for w := range 12 {
		workers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				req := llm.Request{Seed: uint32(i*12 + w), Messages: []llm.Message{{Role: llm.User,
					Content: fmt.Sprint("parent ", i/8)}}}
				reply, err := model.Generate(t.Context(), req)
				made.Add(int64(len(reply.Attempts)))
				for _, a := range reply.Attempts {
					if a.Unsent && a.Endpoint == f.servers[2].URL {
						lost.Add(1)
					}
				}
				if err != nil {
					t.Errorf("call %d: %v", req.Seed, err)
				}
			}
		})
	}
	workers.Wait()
	return int(made.Load()), int(lost.Load())
}

func (f *fleet) answers(i int) int { return f.pool.Report().Endpoints[i].OK }

func (f *fleet) health(i int) pool.Health { return f.pool.Report().Endpoints[i].Health }

// One of three servers is killed, another hangs for a second and comes back: every call is answered,
// both sides count the same attempts, and the one that came back has work again.
func TestPoolOutageOverHTTP(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	ctx, enough := context.WithTimeout(t.Context(), 5*time.Minute)
	var made, unsent int
	var load sync.WaitGroup
	load.Go(func() { made, unsent = f.load(ctx, t) })
	defer load.Wait()
	defer enough()
	until(t, "all three answer", func() bool { return f.answers(0) > 10 && f.answers(1) > 10 && f.answers(2) > 10 })
	f.servers[0].Stop()
	until(t, "the dead one is out", func() bool { return f.health(0) != pool.Healthy })
	f.hanging.Store(true)
	until(t, "the hanging one is out", func() bool { return f.health(1) == pool.Quarantined })
	before := f.answers(1)
	time.Sleep(time.Second)
	f.hanging.Store(false)
	until(t, "the one that hung has work again", func() bool { return f.answers(1) > before+20 })
	enough()
	load.Wait()
	report := f.pool.Report()
	for _, e := range report.Events {
		t.Log(e)
	}
	t.Log(report)
	sum := 0
	for _, e := range report.Endpoints {
		sum += e.OK + e.Stalls + e.Failures + e.Canceled
	}
	if sum != made {
		t.Errorf("%d attempts in the report, %d in the replies", sum, made)
	}
	if n := f.servers[2].Stats().Calls; n+unsent != report.Endpoints[2].Calls {
		t.Errorf("the server that was well saw %d calls, the pool sent it %d, and %d that did not arrive", n,
			report.Endpoints[2].Calls, unsent)
	}
}

// until waits for what must come to be.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 4*time.Minute {
			t.Fatalf("waited four minutes until %s", what)
		}
	}
}
