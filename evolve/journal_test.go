package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// A job is a run that can be made again and again with a journal.
type job struct {
	k, n, inFlight int
	noisy          bool
	calls          int
	model          llm.LLM
	tweak          func(*evolve.Config)
}

// run makes the run with the journal at path, "" for none, and returns its report as JSON.
func (jb job) run(ctx context.Context, t testing.TB, path string) (*evolve.Result, []byte, error) {
	t.Helper()
	tk, model := newNumbers(t, "0").Task, jb.model
	cfg := evolve.Config{Policy: &bandit.UCB1{}, InFlight: jb.inFlight, Budget: evolve.Budget{Calls: jb.calls}}
	if path != "" {
		j, err := journal.Open(path, journal.Config{Resume: true,
			Fingerprint: journal.Fingerprint{"task": "numbers", "N": fmt.Sprint(jb.n)}})
		if err != nil {
			return nil, nil, err
		}
		defer j.Close()
		cfg.Journal = j
	}
	for i := range uint32(jb.k) {
		if jb.noisy {
			cfg.Arms = append(cfg.Arms, newNoisy(t, population.Config{Task: tk, LLM: model, N: jb.n, Seed: 40 + i}))
		} else {
			cfg.Arms = append(cfg.Arms, newGreedy(t, evolve.GreedyConfig{Task: tk, LLM: model, N: jb.n, Seed: 40 + i}))
		}
	}
	if jb.tweak != nil {
		jb.tweak(&cfg)
	}
	res, err := evolve.Run(ctx, cfg)
	if res == nil {
		return nil, nil, err
	}
	h := report.BanditHeader{Header: report.Header{Model: testModel, N: jb.n}, ArmSeeds: make([]uint32, jb.k)}
	return res, asJSON(t, report.NewBandit(res, h)), err
}

// counting counts how often each request is sent.
type counting struct {
	l    llm.LLM
	mu   sync.Mutex
	sent map[string]int
}

func newCounting(l llm.LLM) *counting { return &counting{l: l, sent: map[string]int{}} }

func (c *counting) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	digest := req.Digest()
	c.mu.Lock()
	c.sent[string(digest[:])]++
	c.mu.Unlock()
	return c.l.Generate(ctx, req)
}

func (c *counting) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, v := range c.sent {
		n += v
	}
	return n
}

func journalPath(t testing.TB) string { return filepath.Join(t.TempDir(), "run.journal") }

// A run with a journal comes to what it comes to without one, and made again asks for nothing.
func TestJournalReplay(t *testing.T) {
	for _, inFlight := range []int{1, 4} {
		path := journalPath(t)
		model := newCounting(climber)
		jb := job{k: 5, n: 4, inFlight: inFlight, calls: 90, model: model, noisy: inFlight == 4}
		_, first, err := jb.run(t.Context(), t, path)
		if err != nil {
			t.Fatal(err)
		}
		if inFlight == 1 {
			if _, plain, _ := jb.run(t.Context(), t, ""); !bytes.Equal(plain, first) {
				t.Error("the journal changes the result")
			}
		}
		model.sent = map[string]int{}
		before, _ := os.ReadFile(path)
		res, again, err := jb.run(t.Context(), t, path)
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("%d in flight: made again: %v, equal %v", inFlight, err, bytes.Equal(first, again))
		}
		if model.total() != 0 || res.Stop != evolve.StopBudget {
			t.Errorf("%d calls were made again; stopped by %s", model.total(), res.Stop)
		}
		after, _ := os.ReadFile(path)
		if extra := bytes.Count(after[len(before):], []byte("\n")); extra != 1 {
			t.Errorf("making a finished run again wrote %d records, want 1: that it was opened", extra)
		}
	}
}

// Killed after any record, a run goes on from there: nothing in the file is asked for again, and it
// comes to the result of an undisturbed run.
func TestJournalResumesFromEveryRecord(t *testing.T) {
	path := journalPath(t)
	model := newCounting(climber)
	jb := job{k: 3, n: 3, inFlight: 1, calls: 24, model: model}
	_, want, err := jb.run(t.Context(), t, path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range killtest.Every(t, path, 0, 1) {
		n, answered := cut.Records, cut.Count("completion")
		cut.Tear(t)
		model.sent = map[string]int{}
		_, got, err := jb.run(t.Context(), t, cut.Path)
		if err != nil {
			t.Fatalf("killed after %d records: %v", n, err)
		}
		if !bytes.Equal(thisLife(t, got), thisLife(t, want)) {
			t.Errorf("killed after %d records: another result", n)
		}
		if made := model.total(); made != 24-answered {
			t.Errorf("killed after %d records, with %d answers in the file: %d calls were made, want %d", n, answered, made,
				24-answered)
		}
	}
}

// The same with several arms in flight: the run goes on, keeps its budget, and its own journal
// reproduces it.
func TestJournalResumesConcurrentRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		model := newCounting(llm.Limit(slowly(func(req llm.Request) time.Duration {
			return time.Duration(req.Seed%977) * time.Millisecond
		}), 5))
		jb := job{k: 10, n: 3, inFlight: 8, calls: 100, model: model}
		if _, _, err := jb.run(t.Context(), t, path); err != nil {
			t.Fatal(err)
		}
		for cut := range killtest.About(t, path, 0, 25) {
			n, answered := cut.Records, cut.Count("completion")
			model.sent = map[string]int{}
			res, first, err := jb.run(t.Context(), t, cut.Path)
			if err != nil || res.Calls != 100 || model.total() != 100-answered {
				t.Fatalf("killed after %d records with %d answers: %v, %d calls in the result, %d made", n, answered, err,
					res.Calls, model.total())
			}
			model.sent = map[string]int{}
			_, again, err := jb.run(t.Context(), t, cut.Path)
			if err != nil || model.total() != 0 || !bytes.Equal(first, again) {
				t.Errorf("killed after %d records: its own journal does not reproduce the run: %v, %d calls", n, err, model.total())
			}
		}
	})
}

// Ctrl-C and going on, again and again, comes to the undisturbed result.
func TestJournalCancelAndResume(t *testing.T) {
	for _, grace := range []time.Duration{0, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			delay := func(req llm.Request) time.Duration { return time.Duration(req.Seed%977) * time.Millisecond }
			jb := job{k: 3, n: 4, inFlight: 1, calls: 60, model: llm.Limit(slowly(delay), 3),
				tweak: func(c *evolve.Config) { c.Grace = grace }}
			_, want, err := jb.run(t.Context(), t, "")
			if err != nil {
				t.Fatal(err)
			}
			path := journalPath(t)
			lives := 0
			for {
				ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				res, got, err := jb.run(ctx, t, path)
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				if lives++; res.Stop == evolve.StopCanceled {
					continue
				}
				if !bytes.Equal(thisLife(t, got), thisLife(t, want)) {
					t.Errorf("after %d lives: another result", lives)
				}
				break
			}
			if lives < 3 {
				t.Errorf("%d lives: the test sees nothing", lives)
			}
		})
	}
}

// In the grace period what was sent may finish, and nothing more is sent.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := newCounting(slowly(func(llm.Request) time.Duration { return time.Second }))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		jb := job{k: 2, n: 8, inFlight: 1, calls: 100, model: llm.Limit(model, 4),
			tweak: func(c *evolve.Config) { c.Grace = 10 * time.Second }}
		begin := time.Now()
		res, _, err := jb.run(ctx, t, "")
		if err != nil || res.Stop != evolve.StopCanceled {
			t.Fatalf("stopped by %s: %v", res.Stop, err)
		}
		if took := time.Since(begin); took != 3*time.Second || model.total() != 12 || res.Calls != 12 {
			t.Errorf("ended after %v with %d sent and %d answered, want 3 s, 12, 12", took, model.total(), res.Calls)
		}
	})
}

// Stopped by a target with others in flight, a finished run is reproduced, what was given up included.
func TestJournalReplaysTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := 0.03
		path := journalPath(t)
		model := newCounting(llm.Limit(slowly(func(req llm.Request) time.Duration { return time.Duration(req.Seed%977) * time.Millisecond }), 6))
		jb := job{k: 6, n: 5, inFlight: 4, calls: 500, model: model,
			tweak: func(c *evolve.Config) { c.Budget.Target = &target }}
		res, first, err := jb.run(t.Context(), t, path)
		if err != nil || res.Stop != evolve.StopTarget {
			t.Fatalf("stopped by %s: %v", res.Stop, err)
		}
		partial := 0
		for _, r := range res.Rounds {
			if res.Arms[r.Pull.Arm].Generations[r.Generation].Partial {
				partial++
			}
		}
		model.sent = map[string]int{}
		_, again, err := jb.run(t.Context(), t, path)
		if err != nil || model.total() != 0 || !bytes.Equal(first, again) {
			t.Errorf("made again: %v, %d calls; %d partial rounds (-first +again)\n%s", err, model.total(), partial,
				cmp.Diff(string(first), string(again)))
		}
		if partial == 0 {
			t.Error("nothing was in flight: the test sees nothing")
		}
	})
}

func TestJournalWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		model := newCounting(slowly(func(llm.Request) time.Duration { return time.Second }))
		jb := job{k: 3, n: 2, inFlight: 2, model: model,
			tweak: func(c *evolve.Config) { c.Budget.WallTime = 10500 * time.Millisecond }}
		ctx, cancel := context.WithTimeout(t.Context(), 4300*time.Millisecond)
		if res, _, err := jb.run(ctx, t, path); err != nil || res.Stop != evolve.StopCanceled {
			t.Fatalf("stopped by %v: %v", res, err)
		}
		cancel()
		time.Sleep(time.Hour) // does not count: nothing ran
		begin := time.Now()
		res, first, err := jb.run(t.Context(), t, path)
		if err != nil || res.Stop != evolve.StopBudget || res.Limit != "WallTime" {
			t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
		}
		if took := time.Since(begin); took < 6100*time.Millisecond || took > 6300*time.Millisecond {
			t.Errorf("the second life took %v, want the 6.2 s that were left", took)
		}
		model.sent = map[string]int{}
		_, again, err := jb.run(t.Context(), t, path)
		if err != nil || model.total() != 0 || !bytes.Equal(first, again) {
			t.Errorf("made again: %v, %d calls, equal %v", err, model.total(), bytes.Equal(first, again))
		}
	})
}

func TestJournalRefusals(t *testing.T) {
	path := journalPath(t)
	jb := job{k: 3, n: 3, inFlight: 1, calls: 12, model: climber}
	if _, _, err := jb.run(t.Context(), t, path); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(path, journal.Config{}); err == nil || !strings.Contains(err.Error(), "resume it") {
		t.Errorf("opened an existing journal without being told to resume: %v", err)
	}
	for _, tt := range []struct {
		reason string
		change func(*job)
		want   []string
	}{
		{"another fingerprint", func(j *job) { j.n = 4 }, []string{"record 0: N is \"3\", this run's \"4\": put that back"}},
		{"another policy", func(j *job) { j.tweak = func(c *evolve.Config) { c.Policy = bandit.Random{} } },
			[]string{`: policy is "Rescale(UCB1`, `this run's "Random()": put`}},
		{"another number of arms", func(j *job) { j.k = 4 }, []string{`: arms is "3", this run's "4": put`}},
		{"another budget and more in flight", func(j *job) {
			j.calls, j.inFlight = 15, 2
			j.tweak = func(c *evolve.Config) { c.Budget.Tokens, c.Budget.Models = 1000, []llm.Model{{Key: "m"}} }
		}, []string{`: Budget.Calls is "12", this run's "15"; Budget.Tokens is "none", this run's "1000"; in_flight is "1", this run's "2": put`}},
		{"a policy that prints alike and draws otherwise", func(j *job) {
			j.tweak = func(c *evolve.Config) { c.Policy = liar{c.Policy} }
		}, []string{"draws arm 0", "draws arm 2"}},
		{"another reward", func(j *job) {
			j.tweak = func(c *evolve.Config) {
				c.Policy, c.Reward = bandit.Rescale(c.Policy), func(evolve.Generation) float64 { return 0.125 }
			}
		}, []string{"pull 0 has reward", "0.125"}},
	} {
		other := jb
		tt.change(&other)
		_, _, err := other.run(t.Context(), t, path)
		if !errors.Is(err, journal.ErrDiverged) {
			t.Errorf("%s: %v, want ErrDiverged", tt.reason, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say %q", tt.reason, err, want)
			}
		}
	}
	if _, got, err := jb.run(t.Context(), t, path); err != nil || got == nil {
		t.Errorf("after all that the journal is spoilt: %v", err)
	}
}

// liar prints as the policy it holds, and draws the last open arm.
type liar struct{ bandit.Policy }

func (l liar) String() string { return fmt.Sprint(l.Policy) }
func (l liar) Probs(p []float64, r bandit.Round) {
	bandit.OneHot(p, r.Open, func(arm int) float64 { return float64(arm) })
}

// A journal that cannot be written stops the run before the next call is paid for.
func TestJournalThatCannotBeWritten(t *testing.T) {
	path := journalPath(t)
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	model := newCounting(climber)
	list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: llm.Limit(model, 1), N: 4}, 2)
	if err != nil {
		t.Fatal(err)
	}
	rounds := 0
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Journal: j,
		Budget: evolve.Budget{Rounds: 10},
		Observer: func(e evolve.Event) {
			if rounds++; e.Kind == evolve.EventGeneration {
				j.Close() // as if the disk were gone
			}
		}})
	if err == nil || res.Stop != evolve.StopError || model.total() != 4 {
		t.Errorf("error %v, %d calls, want an error and the 4 of before", err, model.total())
	}
	n := 0
	for _, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n < 10 {
		t.Errorf("%d records are readable", n)
	}
}

func TestSalvage(t *testing.T) {
	path := journalPath(t)
	jb := job{k: 3, n: 3, inFlight: 1, calls: 24, model: climber}
	_, want, err := jb.run(t.Context(), t, path)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	data[bytes.LastIndexByte(data[:len(data)/2], '\n')+
		3] ^= 0x20 // in a line's first key: a checksum is the same in capitals
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := jb.run(t.Context(), t, bad); err == nil || !strings.Contains(err.Error(), "is damaged") ||
		!strings.Contains(err.Error(), "line") {
		t.Errorf("a damaged journal was opened: %v", err)
	}
	good := filepath.Join(t.TempDir(), "good")
	n, damage, err := journal.Salvage(bad, good)
	if err != nil || damage == nil || n < 10 {
		t.Fatalf("salvaged %d records, damage %v, %v", n, damage, err)
	}
	if _, got, err := jb.run(t.Context(), t, good); err != nil || !bytes.Equal(got, want) {
		t.Errorf("resumed from what was salvaged: %v, equal %v", err, bytes.Equal(got, want))
	}
}

func TestLost(t *testing.T) {
	path := journalPath(t)
	jb := job{k: 2, n: 3, inFlight: 1, calls: 9, model: climber}
	if _, _, err := jb.run(t.Context(), t, path); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	lines := bytes.SplitAfter(data, []byte("\n"))
	begun := 0
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"kind":"begin"`)) {
			begun++
		}
		if bytes.Contains(line, []byte(`"kind":"completion"`)) {
			lines = lines[:i]
			break
		}
	}
	part := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(part, bytes.Join(lines, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(part, journal.Config{Resume: true,
		Fingerprint: journal.Fingerprint{"task": "numbers", "N": "3"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if j.Lost() != begun || begun == 0 {
		t.Errorf("%d calls lost, want %d", j.Lost(), begun)
	}
}
