package evolve_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// Where every call hangs, the attempts that were under way when the limit was passed are all that go beyond it,
// however many wait in queues and however often each would be tried again.
func TestStallsInFlight(t *testing.T) {
	const limit, places = 5, 16
	for _, inFlight := range []int{1, 3} {
		for _, retries := range []int{-1, 2, 5} {
			synctest.Test(t, func(t *testing.T) {
				hang := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
					time.Sleep(time.Minute + time.Duration(req.Seed%977)*time.Millisecond)
					return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled, MaxTokens: 100}}},
						&llm.Error{Status: llm.Stalled, Err: errors.New("silence")}
				})
				jb := job{k: 3, n: 64, inFlight: inFlight, calls: 1000,
					model: llm.Retry(llm.Limit(hang, places), llm.RetryConfig{Max: retries}), tweak: withStalls(limit)}
				res, _, err := jb.run(t.Context(), t, journalPath(t))
				if err != nil {
					t.Fatal(err)
				}
				stalls := 0
				for a := range res.Attempts {
					if a.Status == llm.Stalled {
						stalls++
					}
				}
				if res.Limit != "Stalls" || stalls <= limit || stalls > limit+places {
					t.Errorf("%d in flight, %d retries: stopped by %s %s after %d stalls, want at most %d and the %d under way",
						inFlight, retries, res.Stop, res.Limit, stalls, limit, places)
				}
			})
		}
	}
}

// What waits in a queue, or pauses before it is tried again, keeps no room in the budget from others: with room
// for all that is under way at once no child is lost.
func TestQueuesKeepNoRoom(t *testing.T) {
	const places, calls = 16, 512
	model := llm.Model{Key: "m", ActiveParams: 1000, MaxTokens: 16_000, Price: &llm.Price{Prompt: 1, Completion: 1}}
	for limit, b := range map[string]evolve.Budget{
		"Tokens": {Tokens: 500_000}, // 16 at their worst are under 300,000, 64 are over a million
		"FLOPs":  {FLOPs: 2 * 1000 * 500_000},
		"Money":  {Money: 0.5},
	} {
		synctest.Test(t, func(t *testing.T) {
			var tried sync.Map // by seed
			flaky := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				time.Sleep(time.Duration(req.Seed%977) * time.Millisecond)
				if _, again := tried.LoadOrStore(req.Seed, true); !again && req.Seed%2 == 0 { // a third of all attempts
					return failed()
				}
				return climber(ctx, req)
			})
			l := llm.Retry(llm.Limit(flaky, places), llm.RetryConfig{Max: 8, Wait: time.Second})
			jb := job{k: 4, n: 64, inFlight: 2, model: l, tweak: func(c *evolve.Config) {
				c.Budget = b
				c.Budget.Calls, c.Budget.Models = calls, []llm.Model{model}
			}}
			res, _, err := jb.run(t.Context(), t, "")
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for _, arm := range res.Arms {
				for _, g := range arm.Generations {
					for _, c := range g.Children {
						if !c.Answered() {
							lost++
						}
					}
				}
			}
			if res.Limit != "Calls" || res.Calls != calls || lost > 0 {
				t.Errorf("%s: stopped by %s with %d of %d calls answered, %d children lost", limit, res.Limit, res.Calls, calls,
					lost)
			}
		})
	}
}

// Once as many pulls in a row brought nothing as Patience says, nothing more is drawn, whatever those in flight
// bring.
func TestPatienceReachedIsReached(t *testing.T) {
	late := 0 // improvements after it was reached
	for shuffle := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			const patience = 6
			idle, reached, best := 0, false, 0.0
			jb := job{k: 10, n: 1, inFlight: 8, model: shuffled(shuffle), tweak: func(c *evolve.Config) {
				c.Policy, c.Seed, c.Budget = bandit.Random{}, shuffle, evolve.Budget{Patience: patience}
				c.Observer = func(e evolve.Event) {
					switch improved := e.Best.Result.Score > best; {
					case e.Kind == evolve.EventDraw && reached:
						t.Errorf("shuffle %d: pull %d is drawn after %d in a row brought nothing", shuffle, e.Pull.ID, patience)
					case e.Kind != evolve.EventGeneration:
					case improved:
						best, idle = e.Best.Result.Score, 0
						if reached {
							late++
						}
					default:
						idle++
						reached = reached || idle >= patience
					}
				}
			}}
			if res, _, err := jb.run(t.Context(), t, ""); err != nil || res.Limit != "Patience" {
				t.Errorf("stopped by %s: %v", res.Limit, err)
			}
		})
	}
	if late == 0 {
		t.Error("nothing was better after patience was at its end: the test sees nothing")
	}
}
