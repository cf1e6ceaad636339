package evolve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
)

// readReport decodes a report.
func readReport(t *testing.T, data []byte) (r report.Bandit) {
	t.Helper()
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// thisLife returns a report without what earlier incarnations paid for and no generation holds.
func thisLife(t *testing.T, file []byte) []byte {
	t.Helper()
	r := readReport(t, file)
	r.Total = nil
	return asJSON(t, r)
}

// However often a run is stopped and goes on, its result holds what all incarnations paid for. In nothing else does
// it differ from the result of a run that was never stopped.
func TestTotalAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent, tokens int
		model := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			sent++
			select {
			case <-time.After(time.Duration(req.Seed%977) * time.Millisecond):
				r, err := climber(ctx, req)
				tokens += r.Attempts[0].Usage.PromptTokens + r.Attempts[0].Usage.CompletionTokens
				return r, err
			case <-ctx.Done():
				tokens += 30
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 100, Err: "canceled",
					Usage: &llm.Usage{PromptTokens: 20, CompletionTokens: 10}}}}, ctx.Err()
			}
		}), 1) // one at a time, so that sent and tokens need no lock
		jb := job{k: 3, n: 4, inFlight: 1, calls: 60, model: model}
		_, want, err := jb.run(t.Context(), t, "")
		if err != nil {
			t.Fatal(err)
		}
		path := journalPath(t)
		sent, tokens = 0, 0
		for lives := 1; ; lives++ {
			ctx, cancel := context.WithTimeout(t.Context(), 4300*time.Millisecond)
			res, got, err := jb.run(ctx, t, path)
			cancel()
			if err != nil || res.Behind {
				t.Fatalf("%v, behind its journal %v", err, res.Behind)
			}
			r := readReport(t, got)
			calls, all := r.Counts, lives > 1
			if r.Total != nil {
				calls = r.Total.Counts
				if r.Total.Aborted != lives-1 || r.Total.Lost != 0 {
					t.Errorf("life %d: %d calls were aborted and %d lost", lives, r.Total.Aborted, r.Total.Lost)
				}
			} else if all {
				t.Errorf("life %d: nothing is told of earlier ones", lives)
			}
			n, spent := 0, 0
			for _, c := range llm.Classes() {
				n += calls.Calls[c]
				spent += calls.Tokens[c].Prompt + calls.Tokens[c].Completion
			}
			if n != sent || spent != tokens {
				t.Errorf("life %d: %d calls and %d tokens in the result, %d and %d were paid for", lives, n, spent, sent, tokens)
			}
			if res.Stop != evolve.StopBudget {
				continue
			}
			if !bytes.Equal(thisLife(t, got), thisLife(t, want)) || lives < 3 {
				t.Errorf("after %d lives: another result", lives)
			}
			if _, again, err := jb.run(t.Context(), t, path); err != nil || !bytes.Equal(got, again) {
				t.Errorf("made again: %v, equal %v", err, bytes.Equal(got, again))
			}
			break
		}
	})
}

// A call that waits for a place when the process is killed was not sent, and is not lost.
func TestLostAreThoseThatWereSent(t *testing.T) {
	for _, tt := range []struct {
		reason string
		wrap   func(llm.LLM) llm.LLM
		lost   int
	}{
		{"a limit of 2", func(l llm.LLM) llm.LLM { return llm.Limit(l, 2) }, 2},
		{"a limit of 2, tried again", func(l llm.LLM) llm.LLM { return llm.Retry(llm.Limit(l, 2), llm.RetryConfig{}) }, 2},
		{"a queue that says nothing", func(l llm.LLM) llm.LLM { return newCounting(llm.Limit(l, 2)) }, 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			path := journalPath(t)
			var kill sync.Once
			var killed []byte
			model := tt.wrap(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				time.Sleep(time.Second)
				kill.Do(func() { // two are under way, and four wait
					var err error
					if killed, err = os.ReadFile(path); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(time.Duration(req.Seed))
				return climber(ctx, req)
			}))
			jb := job{k: 1, n: 6, inFlight: 1, calls: 6, model: model}
			if _, _, err := jb.run(t.Context(), t, path); err != nil {
				t.Fatal(err)
			}
			part := filepath.Join(t.TempDir(), "part")
			if err := os.WriteFile(part, killed, 0o644); err != nil {
				t.Fatal(err)
			}
			for range 2 { // what is lost stays so
				res, data, err := jb.run(t.Context(), t, part)
				if err != nil {
					t.Fatal(err)
				}
				all := readReport(t, data).Total
				if len(res.Earlier.Lost) != tt.lost || all == nil || all.Lost != tt.lost || all.Calls[llm.Abandoned] != tt.lost ||
					all.Calls[llm.Real] != 6 {
					t.Errorf("%s: %d calls lost, want %d; the result tells of %+v", tt.reason, len(res.Earlier.Lost), tt.lost, all)
				}
				if want := 2 * 1e9 * 16000 * float64(tt.lost); all.FLOPs.WorstCase.TimeoutFLOPs != want ||
					all.FLOPs.Exclude.TimeoutFLOPs != 0 {
					t.Errorf("%s: lost calls are charged %v, want %v", tt.reason, all.FLOPs.WorstCase.TimeoutFLOPs, want)
				}
			}
		})
	}
}

// A lost call is charged with the cap that its own request set.
func TestLostCallsKeepTheirCap(t *testing.T) {
	path := journalPath(t)
	j := openJournal(t, path)
	var killed []byte
	most := 7
	capped := &asker{n: 1, capped: &most, l: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		killed, _ = os.ReadFile(path)
		return ok("x", 1), nil
	})}
	_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{capped}, Budget: evolve.Budget{Rounds: 1},
		Journal: j})
	if err = errors.Join(err, j.Close(), os.WriteFile(path, killed, 0o644)); err != nil {
		t.Fatal(err)
	}
	j = openJournal(t, path)
	defer j.Close()
	capped = &asker{n: 1, capped: &most, l: instant}
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{capped}, Budget: evolve.Budget{Rounds: 1}, Journal: j})
	if lost := res.Earlier.Lost; len(lost) != 1 || lost[0].MaxTokens != most || lost[0].Status != llm.Canceled {
		t.Errorf("lost: %+v, want one call with a cap of %d", lost, most)
	}
}

// A result that holds less than its journal, because the run ended while it was made again, says so.
func TestBehind(t *testing.T) {
	path := journalPath(t)
	jb := job{k: 3, n: 4, inFlight: 1, calls: 60, model: climber}
	if res, _, err := jb.run(t.Context(), t, path); err != nil || res.Behind {
		t.Fatalf("%v, behind %v: want a whole run", err, res.Behind)
	}
	seen := map[bool]int{}
	for cut := range killtest.Every(t, path, 3, 11) {
		n, part, answers := cut.Records, cut.Path, cut.Count("completion")
		for stopAt := range 2 { // before the first draw, and after the first generation
			ctx, cancel := context.WithCancel(t.Context())
			if stopAt == 0 {
				cancel()
			}
			jb.tweak = func(c *evolve.Config) {
				c.Observer = func(e evolve.Event) {
					if e.Kind == evolve.EventGeneration {
						cancel()
					}
				}
			}
			res, _, err := jb.run(ctx, t, part)
			cancel()
			// Where it tells of as many answers, decisions may be left.
			if told := res.Calls; err != nil || told < answers && !res.Behind || told > answers && res.Behind {
				t.Errorf("%d records with %d answers, stopped by %s after %d: behind %v, %v", n, answers, res.Stop, told,
					res.Behind, err)
			}
			seen[res.Behind]++
			if err := os.WriteFile(part, cut.Kept, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen[true] < notrun.Length(2, 5) || seen[false] < 2 {
		t.Errorf("%v: the test sees too little", seen)
	}
}

// A journal that cannot be written, or tells of another run, from the first decision on: the result says
// what is known.
func TestResultOfARunThatCannotBegin(t *testing.T) {
	path := journalPath(t)
	j := openJournal(t, path)
	list := arms(t, 2, 3)
	cfg := evolve.Config{Arms: list, Policy: noisy{}, Budget: evolve.Budget{Rounds: 3}, Journal: j}
	stops := 0
	cfg.Observer = func(e evolve.Event) {
		if e.Kind == evolve.EventStop {
			stops++
		}
	}
	j.Close() // as if the disk were gone
	res, err := evolve.Run(t.Context(), cfg)
	if !errors.Is(err, journal.ErrWrite) || res == nil || res.Stop != evolve.StopError || res.Best.Program != "0" ||
		len(res.Arms) != 2 || stops != 1 {
		t.Errorf("no disk: %+v, %v", res, err)
	}
	path = journalPath(t)
	for _, cfg.Seed = range []uint64{1, 2} {
		j = openJournal(t, path)
		cfg.Journal = j
		res, err = evolve.Run(t.Context(), cfg)
		j.Close()
	}
	if !errors.Is(err, journal.ErrDiverged) || res == nil || res.Stop != evolve.StopError || !res.Behind ||
		res.Best.Program == "" {
		t.Errorf("another seed: %+v, %v", res, err)
	}
}
