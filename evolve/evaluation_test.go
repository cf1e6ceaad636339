package evolve_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// withJudge scores as tk does, after a judge was asked. Without its answer it scores all the same.
func withJudge(tk task.Task, judge llm.LLM) task.Task {
	return task.WithEvaluator(tk, eval.Func(func(ctx context.Context, p string) (eval.Result, error) {
		if _, err := llm.Ask(ctx, judge, llm.Request{Messages: []llm.Message{{Role: llm.User,
			Content: "judge " + p}}}); ctx.Err() != nil {
			return eval.Result{}, err
		}
		return tk.Evaluate(ctx, p)
	}))
}

// What evaluators ask of a model is in the budget and the result also of a run that is made again: the scores come
// from the file then, and nobody asks. From every third record of its journal a run goes on to the same result with one
// arm in flight, and with several to one that has every call and that its own journal reproduces.
func TestCallsOfEvaluatorsAreRecalled(t *testing.T) {
	for _, tt := range []struct {
		reason      string
		k, inFlight int
		noisy       bool
		fails       uint32 // of so many calls of the judge one fails
	}{
		{"one arm", 1, 1, false, 0},
		{"a judge that fails", 2, 1, true, 3},
		{"several in flight, that share programs", 3, 3, false, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent int
			model := newCounting(llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				sent++
				time.Sleep(time.Duration(1+req.Seed%977) * time.Millisecond)
				prompt := req.Messages[len(req.Messages)-1].Content
				if judged, is := strings.CutPrefix(prompt, "judge "); is {
					if tt.fails > 0 && uint32(len(judged)+int(judged[len(judged)-1]))%tt.fails == 0 {
						return failed()
					}
					return ok("fine", uint32(len(judged))), nil
				}
				return climber(ctx, req)
			}), 1)) // so that sent needs no lock
			run := func(path string) (*evolve.Result, []byte) {
				cfg := evolve.Config{Policy: &bandit.UCB1{}, InFlight: tt.inFlight, Budget: evolve.Budget{Rounds: 7}}
				if path != "" {
					cfg.Journal = openJournal(t, path)
					defer cfg.Journal.Close()
				}
				tk := withJudge(newNumbers(t, "0"), model)
				for i := range tt.k {
					seed := 40 + uint32(i)
					if tt.inFlight > 1 {
						seed = 40 + uint32(i)%2 // arms that make the same programs
					}
					if tt.noisy {
						cfg.Arms = append(cfg.Arms, newNoisy(t, population.Config{Task: tk, LLM: model, N: 3, Seed: seed}))
					} else {
						cfg.Arms = append(cfg.Arms, newGreedy(t, evolve.GreedyConfig{Task: tk, LLM: model, N: 3, Seed: seed}))
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				res, err := evolve.Run(ctx, cfg)
				if err != nil || res.Limit != "Rounds" {
					t.Fatalf("%s: stopped by %s %s with %d calls: %v", tt.reason, res.Stop, res.Limit, res.Calls, err)
				}
				return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
					ArmSeeds: make([]uint32, len(cfg.Arms))}))
			}
			tells := func(res *evolve.Result) (attempts int) {
				for range res.Attempts {
					attempts++
				}
				for _, calls := range res.Earlier.Unclaimed {
					attempts += len(calls)
				}
				for _, calls := range res.Earlier.Abandoned {
					attempts += len(calls)
				}
				return attempts
			}
			path := journalPath(t)
			res, want := run(path)
			if n := tells(res); n != sent {
				t.Fatalf("%s: %d attempts were made, the result has %d", tt.reason, sent, n)
			}
			for cut := range killtest.Every(t, path, 3, 3) {
				sent = cut.Count("completion") + cut.Count("tried") // each failure is one
				res, got := run(cut.Path)
				if tt.inFlight == 1 && !bytes.Equal(thisLife(t, got), thisLife(t, want)) {
					t.Fatalf("%s: with %d of %d records: another result", tt.reason, cut.Records, cut.Of)
				}
				if all := tells(res); all != sent || len(res.Earlier.Unclaimed) > 0 {
					t.Fatalf("%s: with %d of %d records: %d attempts were made, the result has %d, of which %d calls unclaimed",
						tt.reason, cut.Records, cut.Of, sent, all, len(res.Earlier.Unclaimed))
				}
				if _, again := run(cut.Path); !bytes.Equal(got, again) {
					t.Fatalf("%s: with %d of %d records: its journal does not reproduce it", tt.reason, cut.Records, cut.Of)
				}
			}
		})
	}
}
