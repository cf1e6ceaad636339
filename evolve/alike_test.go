package evolve_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// Arms that ask the same at the same time each get their own answer back when the run goes on, whichever asks
// first then.
func TestArmsThatAskAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) { // sampled: never the same twice
			luck := rand.New(rand.NewPCG(uint64(sent.Add(1)), 9))
			time.Sleep(time.Duration(luck.IntN(1000)) * time.Millisecond)
			return ok(fmt.Sprintf("```text\n%v\n```", luck.NormFloat64()), req.Seed), nil
		})
		run := func(path string) []byte {
			j := openJournal(t, path)
			defer j.Close()
			var arms []evolve.Arm
			for range 4 {
				arms = append(arms, &chain{Breeder: evolve.Breeder{Task: newNumbers(t, "0"), LLM: model}, last: math.MaxInt})
			}
			res := mustRun(t, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: 4, Journal: j,
				Budget: evolve.Budget{Calls: 60}})
			return asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
				ArmSeeds: make([]uint32, 4)}))
		}
		path := journalPath(t)
		run(path)
		for cut := range killtest.Every(t, path, 1, 17) {
			answered, before := cut.Count("completion"), int(sent.Load())
			first := run(cut.Path)
			if made := int(sent.Load()) - before; made != 60-answered {
				t.Errorf("cut after %d records with %d answers: %d calls were made", cut.Records, answered, made)
			}
			if again := run(cut.Path); !bytes.Equal(first, again) {
				t.Errorf("cut after %d records: its own journal does not reproduce it", cut.Records)
			}
		}
	})
}
