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

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// A run is refused the journal that another is using, before it has decided or asked anything, and the other
// goes on.
func TestTwoRunsAtOnce(t *testing.T) {
	path := journalPath(t)
	j := openJournal(t, path)
	defer j.Close()
	cfg := func(l llm.LLM) evolve.Config {
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 3, Seed: 40}, 2)
		if err != nil {
			t.Fatal(err)
		}
		return evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Journal: j, Budget: evolve.Budget{Calls: 12}}
	}
	var asked atomic.Bool
	second := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked.Store(true)
		return climber(ctx, req)
	})
	var tried atomic.Bool
	first := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if tried.CompareAndSwap(false, true) {
			before, _ := os.ReadFile(path)
			res, err := evolve.Run(ctx, cfg(second))
			after, _ := os.ReadFile(path)
			if !errors.Is(err, journal.ErrInUse) || res != nil || !strings.Contains(err.Error(), path) || asked.Load() ||
				bytes.Contains(after[len(before):], []byte(`"kind":"run"`)) {
				t.Errorf("a second run at once: %+v, %v", res, err)
			}
		}
		return climber(ctx, req)
	})
	if res := mustRun(t, cfg(first)); res.Calls != 12 || !tried.Load() {
		t.Errorf("%d calls, want 12", res.Calls)
	}
	if res := mustRun(t, cfg(second)); res.Calls != 12 { // after the first is over, it is another run
		t.Errorf("one after the other: %d calls", res.Calls)
	}
}

// A process cannot open what another, or it itself, has open.
func TestJournalIsLocked(t *testing.T) {
	path := journalPath(t)
	j := openJournal(t, path)
	defer j.Close()
	if _, err := journal.Open(path, journal.Config{Resume: true}); !errors.Is(err, journal.ErrLocked) ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("opened twice: %v", err)
	}
}

// A program that makes one run after the other with one journal is resumed from any record of either, and each
// result tells of its own run.
func TestRunsOneAfterTheOther(t *testing.T) {
	model := newCounting(climber)
	program := func(path string, lost *[]int) (out [][]byte) {
		j := openJournal(t, path)
		defer j.Close()
		for _, n := range []int{2, 3} {
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: n, Seed: 40}, 2)
			if err != nil {
				t.Fatal(err)
			}
			res := mustRun(t, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Journal: j, Budget: evolve.Budget{Calls: 6 * n}})
			out = append(out, thisLife(t, asJSON(t, report.NewBandit(res,
				report.BanditHeader{Header: report.Header{Model: testModel}, ArmSeeds: make([]uint32, 2)}))))
			*lost = append(*lost, len(res.Earlier.Lost))
			if n := len(res.Earlier.Unclaimed) + len(res.Earlier.Abandoned); n > 0 {
				t.Errorf("the result tells of %d calls given up or not asked for again", n)
			}
		}
		return out
	}
	path := journalPath(t)
	var none []int
	want := program(path, &none)
	for cut := range killtest.Every(t, path, 0, 9) {
		model.sent = map[string]int{}
		answered, begun := cut.Count("completion"), cut.Count("begin")
		var lost []int
		got := program(cut.Path, &lost)
		if model.total() != 30-answered {
			t.Errorf("cut after %d records with %d answers: %d calls", cut.Records, answered, model.total())
		}
		first := cut.Count("run") < 2
		if first && (lost[0] != begun-answered || lost[1] != 0) || !first && (lost[0] != 0 || lost[1] != begun-answered) {
			t.Errorf("cut after %d records, with %d calls under way: the results tell of %v lost", cut.Records, begun-answered,
				lost)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut after %d records: other results (-want +got)\n%s", cut.Records, diff)
		}
	}
}

// A run that was stopped with others in flight is made again as it was, also where another run follows it in the
// journal.
func TestRunsOneAfterTheOtherInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, model := journalPath(t), newCounting(llm.Limit(shuffled(5), 6))
		program := func() (out []string) {
			j := openJournal(t, path)
			defer j.Close()
			for _, target := range []float64{0.03, 0.04} {
				list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: 5,
					Seed: uint32(100 * target)}, 6)
				if err != nil {
					t.Fatal(err)
				}
				res := mustRun(t, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: 4, Journal: j,
					Budget: evolve.Budget{Calls: 500, Target: &target}})
				out = append(out, string(asJSON(t, report.NewBandit(res,
					report.BanditHeader{Header: report.Header{Model: testModel}, ArmSeeds: make([]uint32, 6)}))))
			}
			return out
		}
		first := program()
		model.sent = map[string]int{}
		if diff := cmp.Diff(first, program()); diff != "" || model.total() != 0 {
			t.Errorf("made again with %d calls (-first +again)\n%s", model.total(), diff)
		}
		if !strings.Contains(first[0], "canceled") {
			t.Error("nothing was in flight when the first run stopped: the test sees nothing")
		}
	})
}

// Once the file under a run is moved, deleted or cut, the run ends with an error that says so, before it pays for
// more than what is under way.
func TestJournalThatIsGone(t *testing.T) {
	for _, tt := range []struct {
		reason string
		do     func(path string) error
	}{
		{"deleted", os.Remove},
		{"moved", func(path string) error { return os.Rename(path, path+".old") }},
		{"cut", func(path string) error { return os.Truncate(path, 100) }},
	} {
		path := journalPath(t)
		j := openJournal(t, path)
		var calls atomic.Int64
		model := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if calls.Add(1) == 30 {
				if err := tt.do(path); err != nil {
					t.Error(err)
				}
			}
			return climber(ctx, req)
		}), 4)
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: 8, Seed: 40}, 3)
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: 2, Journal: j,
			Budget: evolve.Budget{Calls: 500}})
		j.Close()
		if !errors.Is(err, journal.ErrWrite) || !strings.Contains(fmt.Sprint(err), "no longer the file") ||
			res.Stop != evolve.StopError {
			t.Errorf("%s: stopped by %s: %v", tt.reason, res.Stop, err)
		}
		if n := calls.Load(); n > 30+3*8 { // the steps that were under way
			t.Errorf("%s: %d calls were made after that", tt.reason, n-30)
		}
	}
}

// Also where Ctrl-C ends the run: that what came since is not kept is not to be missed.
func TestJournalThatIsGoneAfterCtrlC(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Minute} {
		for _, inFlight := range []int{1, 2} {
			synctest.Test(t, func(t *testing.T) {
				path := journalPath(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				model := slowly(func(req llm.Request) time.Duration {
					return time.Second + time.Duration(req.Seed%977)*time.Millisecond
				})
				time.AfterFunc(500*time.Millisecond, func() {
					if err := os.Truncate(path, 100); err != nil {
						t.Error(err)
					}
					cancel()
				})
				jb := job{k: 2, n: 3, inFlight: inFlight, calls: 60, model: model,
					tweak: func(c *evolve.Config) { c.Grace = grace }}
				if _, _, err := jb.run(ctx, t, path); !errors.Is(err, journal.ErrWrite) {
					t.Errorf("%v of grace, %d in flight: %v, want ErrWrite", grace, inFlight, err)
				}
			})
		}
	}
}
