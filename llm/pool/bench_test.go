package pool_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// BenchmarkPool is what a pool adds to a call, next to Limit around one endpoint, with 512 callers at
// endpoints that answer at once and prompts of 4 KB. With 4 slots at each endpoint most calls wait.
func BenchmarkPool(b *testing.B) {
	text := strings.Repeat("let a = 1;\n", 370)
	at := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	play := func(b *testing.B, l llm.LLM) {
		b.ReportAllocs()
		work := make(chan uint32)
		var wg sync.WaitGroup
		for range 512 {
			wg.Go(func() {
				for seed := range work {
					if _, err := l.Generate(b.Context(), say(text, seed)); err != nil {
						b.Error(err)
					}
				}
			})
		}
		i := uint32(0)
		for b.Loop() {
			i++
			work <- i
		}
		close(work)
		wg.Wait()
	}
	for _, slots := range []int{4, 512} {
		b.Run(fmt.Sprintf("Limit/slots=%d", slots), func(b *testing.B) { play(b, llm.Limit(at, 8*slots)) })
		b.Run(fmt.Sprintf("Pool/slots=%d", slots), func(b *testing.B) {
			cfg := pool.Config{Slots: slots}
			for i := range 8 {
				cfg.Endpoints = append(cfg.Endpoints, pool.Endpoint{Name: fmt.Sprint("gpu", i), LLM: at})
			}
			p, err := pool.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			play(b, p)
		})
	}
}
