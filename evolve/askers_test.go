package evolve_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// asker is a search without a Breeder: n calls a generation one after the other, each scored by its length. It
// returns what keeps it from a call as its error, and then an empty generation.
type asker struct {
	l      llm.LLM
	n      int
	seed   uint32
	next   int
	best   eval.Candidate
	empty  bool // after an error it returns nothing of what it made before
	capped *int // the requests' own cap on new tokens
	deaf   bool // it makes do with what it got, and does not return the error
}

func (a *asker) Best() eval.Candidate { return a.best }
func (a *asker) Done() bool           { return false }

func (a *asker) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	a.next++
	gen := evolve.Generation{Index: a.next, Before: a.best}
	for i := range a.n {
		seed := evolve.ChildSeed(a.seed, a.n, a.next-1, i)
		reply, err := turn.Ask(ctx, evolve.KindChild, a.l, llm.Request{Seed: seed, MaxTokens: a.capped})
		if err != nil {
			gen.Best = a.best
			if a.deaf {
				return gen, nil
			}
			if a.empty {
				gen = evolve.Generation{}
			}
			return gen, err
		}
		c := evolve.Child{Index: i, Seed: seed, Attempts: reply.Attempts,
			Candidate: eval.Candidate{Program: reply.Text, Result: eval.Result{Valid: true, Score: float64(seed % 1000)}}}
		if c.Better(a.best) {
			a.best = c.Candidate
		}
		gen.Children = append(gen.Children, c)
	}
	gen.Best = a.best
	return gen, nil
}

// A search that gives up when the budget has no room ends the run as the budget does, and again when that is
// made again from its journal.
func TestRefusalIsTheBudgetsStop(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		like     asker
		inFlight int
	}{
		{"it keeps what it has", asker{}, 1},
		{"it keeps nothing", asker{empty: true}, 1},
		{"it does not say so", asker{deaf: true}, 1},
		{"with others in flight", asker{}, 3},
		{"with others in flight, and does not say so", asker{deaf: true}, 3},
	} {
		path := journalPath(t)
		var first []byte
		for life := range 2 {
			j := openJournal(t, path)
			var list []evolve.Arm
			for i := range 4 {
				list = append(list, &asker{l: (llm.Limit(instant, 1)), n: 5, seed: uint32(i), empty: tt.like.empty,
					deaf: tt.like.deaf})
			}
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: tt.inFlight,
				Journal: j,
				Budget:  evolve.Budget{Tokens: 3000, Models: []llm.Model{{Key: "m", MaxTokens: 300, ActiveParams: 1}}}})
			j.Close()
			if err != nil || res.Stop != evolve.StopBudget || res.Limit != "Tokens" || !res.Best.Result.Valid || res.Calls < 20 {
				t.Fatalf("%s, life %d: stopped by %s %s after %d calls: %v", tt.reason, life, res.Stop, res.Limit, res.Calls, err)
			}
			best := 0.0
			for _, a := range res.Arms {
				best = max(best, a.Best.Result.Score)
			}
			if best != res.Best.Result.Score {
				t.Errorf("%s: the best is %v, of the arms' %v", tt.reason, res.Best.Result.Score, best)
			}
			data := asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
				ArmSeeds: make([]uint32, 4)}))
			if life == 0 {
				first = data
			} else if !bytes.Equal(first, data) {
				t.Errorf("%s: made again, it came to something else", tt.reason)
			}
		}
	}
}

// Arms that do not say how many calls they make pass the budget by less than their generations in flight.
func TestCallsOfArmsThatAreNoSizer(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		var list []evolve.Arm
		for i := range 5 {
			list = append(list, &asker{l: instant, n: 5, seed: uint32(i)})
		}
		res := mustRun(t, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: inFlight,
			Budget: evolve.Budget{Calls: 52}})
		if res.Limit != "Calls" || res.Calls < 52 || res.Calls >= 52+5*inFlight {
			t.Errorf("%d in flight: stopped by %s after %d calls of 52", inFlight, res.Limit, res.Calls)
		}
	}
}

// instant answers at once.
var instant = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) { return ok("x", req.Seed), nil })
