package evolve_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// shuffled is climber with latencies that depend on the seed and on shuffle alone.
func shuffled(shuffle uint64) llm.LLM {
	return slowly(func(req llm.Request) time.Duration {
		return time.Duration(rand.New(rand.NewPCG(shuffle, uint64(req.Seed))).IntN(1000)) * time.Millisecond
	})
}

// steady makes one step of n children with a window, and returns the run's result as JSON.
func steady(t *testing.T, l llm.LLM, n, window int, order evolve.Order, j *journal.Journal) (*evolve.Result, []byte) {
	t.Helper()
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: n, Window: window, Order: order, Seed: 40,
		MaxGenerations: 1})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: n}, Journal: j})
	return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel, N: n},
		ArmSeeds: []uint32{40}}))
}

// Children taken by index give the same result whichever ends first. Each is made of what the ones before its
// window brought.
func TestByIndexDoesNotDependOnWhatEndsFirst(t *testing.T) {
	for _, window := range []int{1, 2, 5, 40, 0} {
		var want []byte
		for shuffle := range uint64(8) {
			synctest.Test(t, func(t *testing.T) {
				_, got := steady(t, shuffled(shuffle), 40, window, evolve.ByIndex, nil)
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("window %d: another order of replies comes to another result", window)
				}
			})
		}
	}
}

// A brief knows the children that were taken in before it, which are those of lower index but for a window.
func TestBriefsFollowTakes(t *testing.T) {
	const n, window = 24, 5
	for _, order := range []evolve.Order{evolve.ByIndex, evolve.AsTheyEnd} {
		synctest.Test(t, func(t *testing.T) {
			b := &evolve.Breeder{Task: newNumbers(t, "0"), LLM: shuffled(3), Window: window, Order: order}
			var taken []int
			_, err := b.Breed(t.Context(), nil, n, func(i int) evolve.Brief {
				if len(taken) != max(0, i+1-window) {
					t.Errorf("%v: child %d is briefed after %d were taken in, want %d", order, i, len(taken), max(0, i+1-window))
				}
				return evolve.Brief{Seed: evolve.ChildSeed(1, n, 0, i)}.Of(b.Initial())
			}, func(c evolve.Child) {
				if order == evolve.ByIndex && c.Index != len(taken) {
					t.Errorf("child %d is taken in after %d", c.Index, len(taken))
				}
				taken = append(taken, c.Index)
			})
			if err != nil || len(taken) != n {
				t.Errorf("%v: %d of %d were taken in: %v", order, len(taken), n, err)
			}
			if order == evolve.AsTheyEnd && fmt.Sprint(taken) == fmt.Sprint(ascending(n)) {
				t.Error("all ended in order: the test sees nothing")
			}
		})
	}
}

func ascending(n int) (is []int) {
	for i := range n {
		is = append(is, i)
	}
	return is
}

// A steady-state search with a journal goes on after a kill at any record, and asks for nothing again that was
// answered: children are taken in as they were, and the briefs between them know what they knew. The journal
// reproduces the run that came of it.
func TestJournalRepeatsTheOrder(t *testing.T) {
	for _, order := range []evolve.Order{evolve.ByIndex, evolve.AsTheyEnd} {
		synctest.Test(t, func(t *testing.T) {
			const n, window = 20, 4
			path := journalPath(t)
			model := newCounting(llm.Limit(shuffled(7), window))
			run := func(path string) []byte {
				model.sent = map[string]int{}
				j := openJournal(t, path)
				defer j.Close()
				_, data := steady(t, model, n, window, order, j)
				return data
			}
			want := run(path)
			for cut := range killtest.Every(t, path, 0, 3) {
				answered := cut.Count("completion")
				got := run(cut.Path)
				if model.total() != n-answered {
					t.Errorf("%v: cut after %d records with %d answers: %d calls were made", order, cut.Records, answered,
						model.total())
				}
				if order == evolve.ByIndex && !bytes.Equal(thisLife(t, got), thisLife(t, want)) {
					t.Errorf("cut after %d records: another result", cut.Records)
				}
				if again := run(cut.Path); !bytes.Equal(got, again) || model.total() != 0 {
					t.Errorf("%v: cut after %d records: its own journal does not reproduce it", order, cut.Records)
				}
			}
		})
	}
}

// Stopped while a step is made again that a kill cut short, a steady-state search goes on with the order that it
// had, and still makes all of its children.
func TestStoppedWhileTheOrderIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 12
		ends := map[uint32]time.Duration{}
		for i := range n {
			ends[evolve.ChildSeed(40, n, 0, i)] = time.Second
		}
		for _, i := range []int{0, 1} {
			ends[evolve.ChildSeed(40, n, 0, i)] = 10 * time.Second
		}
		ends[evolve.ChildSeed(40, n, 0, 2)] = 2500 * time.Millisecond // so that 3, 4 and 2 are taken in first
		path, model := journalPath(t), newCounting(slowly(func(req llm.Request) time.Duration { return ends[req.Seed] }))
		run := func(path string, stop time.Duration, onChild func()) *evolve.Result {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(stop, cancel)
			j := openJournal(t, path)
			defer j.Close()
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: n, Window: 4, Order: evolve.AsTheyEnd,
				Seed:           40,
				MaxGenerations: 1})
			g.OnChild = func(evolve.Child) {
				if onChild != nil {
					cancel()
					onChild()
				}
			}
			res, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 100}, Journal: j})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		run(path, 2700*time.Millisecond, nil)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		killed, _, found := bytes.Cut(whole, []byte(`"kind":"abandoned"`)) // as a kill leaves it
		if !found || len(records(t, path, record.Taken)) < 3 {
			t.Fatal("the first life was not stopped in the middle: the test sees nothing")
		}
		if err := os.WriteFile(path, killed, 0o600); err != nil {
			t.Fatal(err)
		}
		if res := run(path, time.Hour, func() { time.Sleep(time.Millisecond) }); res.Stop != evolve.StopCanceled {
			t.Fatalf("the second life stopped by %s: the test sees nothing", res.Stop)
		}
		if res := run(path, time.Hour, nil); res.Stop != evolve.StopExhausted || res.Calls != n ||
			model.total() > n+8 { // what was under way at each stop
			t.Errorf("stopped by %s with %d of %d children, after %d calls", res.Stop, res.Calls, n, model.total())
		}
	})
}

// A brief without a seed is a request of its own all the same: a model that is asked the same answers the same.
func TestSeedsWhereABriefHasNone(t *testing.T) {
	b := evolve.Breeder{Task: newNumbers(t, "0"), LLM: climber}
	seen := map[uint32]bool{}
	for range 2 {
		gen, err := b.Breed(t.Context(), nil, 8, func(int) evolve.Brief {
			return evolve.Brief{Request: task.Request{Parents: []eval.Candidate{b.Best()}}}
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range gen.Children {
			seen[c.Seed] = true
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d seeds of 16 children", len(seen))
	}
}

// A brief or a take that cannot go on ends the search with its own error. What was asked by then is in the
// generation, and nothing is asked for after.
func TestFail(t *testing.T) {
	why := fmt.Errorf("the archive is broken")
	for _, tt := range []struct {
		what         string
		brief, take  int // which of them fails
		made, briefs int
	}{
		{"the third brief", 2, -1, 2, 3},
		{"the second take: the window holds one more by then", -1, 1, 3, 3},
	} {
		b := &evolve.Breeder{Task: newNumbers(t, "0"), LLM: climber, Window: 2}
		briefs, takes := 0, 0
		gen, err := b.Breed(t.Context(), nil, 20, func(i int) evolve.Brief {
			briefs++
			if i == tt.brief {
				b.Fail(why)
			}
			return evolve.Brief{Seed: uint32(i + 1)}.Of(b.Initial())
		}, func(evolve.Child) {
			if takes == tt.take {
				b.Fail(why)
			}
			takes++
		})
		if err != why || len(gen.Children) != tt.made || !gen.Partial || briefs != tt.briefs || !b.Done() {
			t.Errorf("%s: %v after %d briefs with %d children, want %d and %d; partial %v", tt.what, err, briefs,
				len(gen.Children), tt.briefs, tt.made, gen.Partial)
		}
		if _, err := b.Breed(t.Context(), nil, 1, nil, nil); err != why {
			t.Errorf("%s: the next step returns %v", tt.what, err)
		}
	}
}
