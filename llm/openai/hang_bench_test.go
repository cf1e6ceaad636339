package openai_test

import (
	"context"
	"flag"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

var hangScale = flag.Float64("hangscale", 0.1, "by what BenchmarkHangs multiplies all times")

// The scenario of BenchmarkHangs, in real time.
const (
	hangCalls    = 512
	hangInFlight = 16
	hangEvery    = 20               // one call in so many hangs, the first time it is made: 26 of the 512
	hangRate     = 50               // tokens a second
	hangTokens   = 100              // of an answer: 2 s
	hangTimeout  = 60 * time.Second // for a whole call
	hangSilence  = 2 * time.Second  // with stall detection
)

// A hangResult is what a scenario came to, in real time.
type hangResult struct {
	wall    time.Duration
	lost    time.Duration // that attempts held a place without bringing an answer
	retried int64         // attempts that did not
	unread  int           // tokens generated after the client had its last one
}

// BenchmarkHangs makes 512 calls, 16 in flight, one in twenty of which hangs in the middle of its
// stream while the server generates on, until it sees the client leave. It compares stall detection
// (2 s of silence) with a timeout of 60 s alone. All times are multiplied by 0.1, unless the flag
// hangscale says otherwise, and reported as if they were not: 1 is the scenario in real time.
//
//	go test -run '^$' -bench Hangs -benchtime 1x ./llm/openai
//	go test -run '^$' -bench Hangs -benchtime 1x ./llm/openai -hangscale 1
func BenchmarkHangs(b *testing.B) {
	var results [2]hangResult
	for i, bb := range []struct {
		name  string
		limit openai.Stream
	}{
		{"timeout-only", openai.Stream{FirstToken: -1, Silence: -1, MinRate: -1}},
		{"stall-detection", openai.Stream{FirstToken: -1, Silence: scaled(hangSilence), MinRate: -1}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for range b.N {
				r, err := runHangs(b.Context(), bb.limit)
				if err != nil {
					b.Fatal(err)
				}
				results[i] = r
			}
			r := results[i]
			b.ReportMetric(r.wall.Seconds(), "wall-s")
			b.ReportMetric(r.lost.Seconds(), "lost-slot-s")
			b.ReportMetric(float64(r.unread), "unread-tokens")
			b.ReportMetric(float64(r.retried), "retried")
		})
	}
	if timeout, stall := results[0].lost, results[1].lost; timeout > 0 && stall > 0 && timeout < 10*stall {
		b.Errorf("%v of slots lost with a timeout alone, %v with stall detection: want a tenth", timeout, stall)
	}
}

func scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * *hangScale) }

func runHangs(ctx context.Context, limit openai.Stream) (r hangResult, err error) {
	srv := llmtest.NewServer(llmtest.Config{
		Reply: say(strings.Repeat("f(x)", hangTokens)), Rate: hangRate / *hangScale,
		Fault: func(req llmtest.Request) llmtest.Fault {
			if req.Seed%hangEvery == 7 && req.Occurrence == 0 {
				return "hang body"
			}
			return ""
		},
	})
	defer srv.Close()
	m := model
	m.Timeout = scaled(hangTimeout)
	client, err := openai.New(openai.Config{BaseURL: srv.URL, Model: m, Stream: limit})
	if err != nil {
		return r, err
	}
	defer client.Close()
	l := llm.Retry(llm.Limit(client, hangInFlight), llm.RetryConfig{Max: 2, Wait: -1})
	start := time.Now()
	lost, err := callAll(ctx, l, &r.retried)
	r.wall = unscaled(time.Since(start))
	if err != nil {
		return r, err
	}
	r.lost = unscaled(lost)
	err = srv.Drain(ctx)
	r.unread = srv.Stats().Unread
	return r, err
}

func unscaled(d time.Duration) time.Duration { return time.Duration(float64(d) / *hangScale) }

// callAll makes all calls, and returns the time that was held without an answer.
func callAll(ctx context.Context, l llm.LLM, retried *int64) (time.Duration, error) {
	var lost atomic.Int64
	var g errgroup.Group
	for i := range hangCalls {
		g.Go(func() error {
			req := request
			req.Seed = uint32(i)
			reply, err := l.Generate(ctx, req)
			for _, a := range reply.Attempts {
				if a.Status != llm.OK {
					atomic.AddInt64(retried, 1)
					lost.Add(int64(a.Latency))
				}
			}
			return err
		})
	}
	err := g.Wait()
	return time.Duration(lost.Load()), err
}
