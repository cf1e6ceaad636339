package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// hangs is climber, except that while sick every other call stalls. A call takes up to a second.
type hangs struct {
	sick  atomic.Bool
	calls atomic.Int64
}

func (h *hangs) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	time.Sleep(time.Duration(req.Seed%977) * time.Millisecond)
	if h.sick.Load() && h.calls.Add(1)%2 == 0 {
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled, MaxTokens: 100, Err: "silence"}}},
			&llm.Error{Status: llm.Stalled, Err: errors.New("silence")}
	}
	return climber(ctx, req)
}

// withStalls allows n stalls.
func withStalls(n int) func(*evolve.Config) {
	return func(c *evolve.Config) { c.Budget.Stalls = n }
}

// A run that ended because too many calls stalled ends so again with the same budget, and goes on to its calls
// with a larger limit, from what it has: nothing that was answered is asked for again, and its journal
// reproduces it.
func TestRaisedStalls(t *testing.T) {
	for _, inFlight := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			path := journalPath(t)
			endpoint := &hangs{}
			model := newCounting(llm.Limit(endpoint, 6))
			jb := job{k: 5, n: 4, inFlight: inFlight, calls: 90, model: model, tweak: withStalls(10)}
			endpoint.sick.Store(true)
			_, sick, err := jb.run(t.Context(), t, path)
			if err != nil {
				t.Fatal(err)
			}
			endpoint.sick.Store(false)
			sent := model.total()
			res, again, err := jb.run(t.Context(), t, path)
			if err != nil || res.Limit != "Stalls" || res.Calls == 0 || model.total() != sent || !bytes.Equal(sick, again) {
				t.Fatalf("with the same limit: stopped by %s after %d calls, %d made again: %v", res.Limit, res.Calls,
					model.total()-sent, err)
			}
			answered := res.Calls

			jb.tweak = withStalls(100)
			res, well, err := jb.run(t.Context(), t, path)
			if err != nil || res.Limit != "Calls" || res.Calls != 90 || model.total()-sent != 90-answered {
				t.Fatalf("with a larger one: stopped by %s with %d calls, of which %d were answered before and %d made now: %v",
					res.Limit, res.Calls, answered, model.total()-sent, err)
			}
			for request, n := range model.sent {
				if n != 1 {
					t.Errorf("%s was sent %d times", request, n)
				}
			}
			sent = model.total()
			if _, again, err := jb.run(t.Context(), t, path); err != nil || model.total() != sent || !bytes.Equal(well, again) {
				t.Errorf("made again: %v, %d calls (-first +again)\n%s", err, model.total()-sent,
					cmp.Diff(string(well), string(again)))
			}
			for _, n := range []int{10, 50, 101} {
				jb.tweak = withStalls(n)
				_, _, err := jb.run(t.Context(), t, path)
				if want := fmt.Sprintf(`Budget.Stalls is "100", this run's "%d": put that back`, n); !errors.Is(err,
					journal.ErrDiverged) || !strings.Contains(err.Error(), want) {
					t.Errorf("with a limit of %d where 100 did not bind: %v, want %s", n, err, want)
				}
			}
		})
	}
}

// A limit can be raised again and again, and one that is still too small ends the run at once.
func TestRaisedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		endpoint := &hangs{}
		endpoint.sick.Store(true)
		model := newCounting(llm.Limit(endpoint, 12))
		jb := job{k: 3, n: 12, inFlight: 1, calls: 300, model: model}
		calls := 0
		for _, n := range []int{1, 2, 20, 21, 60} {
			jb.tweak = withStalls(n)
			res, first, err := jb.run(t.Context(), t, path)
			if err != nil || res.Limit != "Stalls" || n != 2 && n != 21 && res.Calls <= calls {
				t.Fatalf("%d stalls: stopped by %s after %d calls, %d before: %v", n, res.Limit, res.Calls, calls, err)
			}
			calls = res.Calls
			sent := model.total()
			if _, again, err := jb.run(t.Context(), t, path); err != nil || model.total() != sent || !bytes.Equal(first, again) {
				t.Errorf("%d stalls, made again: %v, %d calls", n, err, model.total()-sent)
			}
		}
		jb.tweak = withStalls(-1)
		if res, _, err := jb.run(t.Context(), t, path); err != nil || res.Limit != "Calls" || res.Calls != 300 {
			t.Errorf("without a limit: stopped by %s after %d calls: %v", res.Limit, res.Calls, err)
		}
	})
}

// A run that is killed after any record, also one of the incarnation in which the limit was raised, has the same
// result.
func TestRaisedResumesFromEveryRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		endpoint := &hangs{}
		model := newCounting(llm.Limit(endpoint, 6))
		jb := job{k: 3, n: 4, inFlight: 1, calls: 40, model: model, tweak: withStalls(3)}
		endpoint.sick.Store(true)
		if _, _, err := jb.run(t.Context(), t, path); err != nil {
			t.Fatal(err)
		}
		endpoint.sick.Store(false)
		before, _ := os.ReadFile(path)
		jb.tweak = withStalls(50)
		_, want, err := jb.run(t.Context(), t, path)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := os.ReadFile(path)
		if !bytes.Contains(whole[len(before):], []byte(`"kind":"raise"`)) {
			t.Fatal("nothing was raised: the test sees nothing")
		}
		for cut := range killtest.Every(t, path, bytes.Count(before, []byte("\n")), 1) {
			model.sent = map[string]int{}
			_, got, err := jb.run(t.Context(), t, cut.Path)
			made := bytes.Count(whole, []byte(`"kind":"completion"`)) - cut.Count("completion")
			if err != nil || !bytes.Equal(thisLife(t, got), thisLife(t, want)) || model.total() != made {
				t.Fatalf("killed after %d records: %v, %d calls made, want %d", cut.Records, err, model.total(), made)
			}
		}
	})
}

// Time, tokens, FLOPs and money can be raised too. Of time, what was given up is made again, and the run comes
// to what it comes to undisturbed.
func TestRaisedLimits(t *testing.T) {
	m := llm.Model{Key: "m", MaxTokens: 100, ActiveParams: 1, Price: &llm.Price{Prompt: 1, Completion: 1}}
	for limit, set := range map[string]func(*evolve.Budget, float64){
		"WallTime": func(b *evolve.Budget, times float64) {
			b.WallTime = time.Duration(times * float64(4300*time.Millisecond))
		},
		"Tokens": func(b *evolve.Budget, times float64) { b.Tokens = int64(times * 2500) },
		"FLOPs":  func(b *evolve.Budget, times float64) { b.FLOPs = times * 2500 },
		"Money":  func(b *evolve.Budget, times float64) { b.Money = times * 0.001 },
	} {
		for _, inFlight := range []int{1, 3} {
			synctest.Test(t, func(t *testing.T) {
				path := journalPath(t)
				model := newCounting(llm.Limit(slowly(func(req llm.Request) time.Duration { return time.Duration(req.Seed%977) * time.Millisecond }), 3))
				jb := job{k: 3, n: 4, inFlight: inFlight, calls: 60, model: model}
				run := func(times float64, path string) (*evolve.Result, []byte) {
					jb.tweak = func(c *evolve.Config) {
						c.Budget.Models = []llm.Model{m}
						set(&c.Budget, times)
					}
					res, report, err := jb.run(t.Context(), t, path)
					if err != nil {
						t.Fatalf("%s: %v", limit, err)
					}
					return res, report
				}
				res, first := run(1, path)
				sent := model.total()
				if _, again := run(1, path); res.Limit != limit || res.Calls == 0 || !bytes.Equal(first, again) ||
					model.total() != sent {
					t.Fatalf("%s: stopped by %s after %d calls, made again with %d", limit, res.Limit, res.Calls, model.total()-sent)
				}
				res, more := run(1000, path)
				if res.Limit != "Calls" || res.Calls != 60 {
					t.Fatalf("%s raised: stopped by %s after %d calls", limit, res.Limit, res.Calls)
				}
				sent = model.total()
				if _, again := run(1000, path); !bytes.Equal(more, again) || model.total() != sent {
					t.Errorf("%s raised and made again: %d calls", limit, model.total()-sent)
				}
				if _, want := run(1000, ""); limit == "WallTime" && inFlight == 1 &&
					!bytes.Equal(thisLife(t, more), thisLife(t, want)) {
					t.Errorf("raised, the time gives another result (-undisturbed +raised)\n%s", cmp.Diff(string(want), string(more)))
				}
			})
		}
	}
}

// What decides the search stands, and so does a limit that another is raised for.
func TestNotRaised(t *testing.T) {
	for reason, change := range map[string]func(*evolve.Budget){
		"more calls":            func(b *evolve.Budget) { b.Calls = 50 },
		"a smaller limit":       func(b *evolve.Budget) { b.Stalls = 2 },
		"another limit":         func(b *evolve.Budget) { b.WallTime = time.Hour },
		"a larger one and more": func(b *evolve.Budget) { b.Stalls, b.Calls = 50, 50 },
	} {
		path := journalPath(t)
		jb := job{k: 3, n: 4, inFlight: 1, calls: 40, tweak: withStalls(3),
			model: llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled, MaxTokens: 100}}},
					&llm.Error{Status: llm.Stalled, Err: errors.New("silence")}
			})}
		if _, _, err := jb.run(t.Context(), t, path); err != nil {
			t.Fatal(err)
		}
		jb.tweak = func(c *evolve.Config) { c.Budget.Stalls = 3; change(&c.Budget) }
		if _, _, err := jb.run(t.Context(), t, path); !errors.Is(err, journal.ErrDiverged) {
			t.Errorf("%s: %v, want ErrDiverged", reason, err)
		}
	}
}

// More calls go on where fewer ended the run, also with a last generation that had room for a part of its children
// alone: nothing is asked for again, and the journal reproduces the run.
func TestRaisedCalls(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		for _, calls := range []int{24, 22} {
			synctest.Test(t, func(t *testing.T) {
				path := journalPath(t)
				model := newCounting(llm.Limit(slowly(func(req llm.Request) time.Duration {
					return time.Duration(req.Seed%977) * time.Millisecond
				}), 3))
				jb := job{k: 3, n: 4, inFlight: inFlight, calls: calls, model: model}
				if res, _, err := jb.run(t.Context(), t, path); err != nil || res.Calls != calls {
					t.Fatalf("%d calls: %v", res.Calls, err)
				}
				jb.calls = 260
				res, more, err := jb.run(t.Context(), t, path)
				if err != nil || res.Limit != "Calls" || res.Calls != 260 || model.total() != 260 {
					t.Fatalf("raised: stopped by %s after %d calls, %d made: %v", res.Limit, res.Calls, model.total(), err)
				}
				if _, again, err := jb.run(t.Context(), t, path); err != nil || model.total() != 260 || !bytes.Equal(more, again) {
					t.Errorf("made again: %v, %d calls", err, model.total())
				}
				jb.calls = 100
				if _, _, err := jb.run(t.Context(), t, path); !errors.Is(err, journal.ErrDiverged) {
					t.Errorf("fewer calls: %v, want ErrDiverged", err)
				}
				if whole, _, err := (job{k: 3, n: 4, inFlight: inFlight, calls: 260, model: model}).run(t.Context(), t, ""); err != nil ||
					calls == 24 && inFlight == 1 && whole.Best.Program != res.Best.Program {
					t.Errorf("undisturbed: best %s, raised %s: %v", whole.Best.Program, res.Best.Program, err)
				}
			})
		}
	}
}
