package evolve_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// A retry may wait for room that other calls then use up. The run then ends by that limit. It does so again when it
// is made again, because the journal has the call's first attempt and the limit.
func TestRetryThatFindsTheRoomGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := evolve.ChildSeed(40, 3, 0, 0)
		model := llm.Retry(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if req.Seed == first {
				time.Sleep(time.Second)
				return failed()
			}
			time.Sleep(10 * time.Second)
			r := ok("```text\n1\n```", 1)
			r.Attempts[0].Usage = &llm.Usage{PromptTokens: 50, CompletionTokens: 800}
			return r, nil
		}), llm.RetryConfig{Max: 5})
		path := journalPath(t)
		run := func() []byte {
			j := openJournal(t, path)
			defer j.Close()
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: 3, Seed: 40})
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Journal: j,
				Budget: evolve.Budget{Tokens: 2500, Models: []llm.Model{{Key: "m", MaxTokens: 800, ActiveParams: 1}}}})
			if err != nil || res.Limit != "Tokens" {
				t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
			}
			return asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
				ArmSeeds: make([]uint32, 1)}))
		}
		want := run()
		if got := run(); !bytes.Equal(got, want) {
			t.Error("made again, it comes to another result")
		}
	})
}
