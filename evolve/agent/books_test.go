package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
)

// A booked call is what a result or a server says of a call that was answered.
type booked struct {
	Kind  string // "child" or "agent"
	Usage llm.Usage
}

// agentsRun makes or resumes a run in dir: args are the server's URL, how many arms are in flight, and how many calls the
// budget has. It saves the answered calls as JSON beside the result.
func agentsRun(dir string, args []string) error {
	var inFlight, calls int
	if _, err := fmt.Sscan(args[1]+" "+args[2], &inFlight, &calls); err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
	if err != nil {
		return err
	}
	model := llm.Models()[0]
	model.Timeout = 3 * time.Second // which faults reach that hang
	if inFlight == 1 {
		model.Timeout = time.Hour // its servers have no faults, and no attempt must end for a machine that is busy
	}
	client, err := openai.New(openai.Config{Seed: true, BaseURL: args[0], Model: model})
	if err != nil {
		return err
	}
	var arms []evolve.Arm
	for seed := range uint32(2 * inFlight) {
		loop := &agent.Loop{Bounds: agent.Bounds{Calls: 6}, Shell: func(context.Context, string, string) (string, error) {
			return time.Now().String(), nil
		}}
		search, err := population.New(population.Config{Task: runtest.Number(task.Spec{Initial: "1"}), N: 3, Seed: seed,
			LLM:       llm.Retry(llm.Limit(client, 4), llm.RetryConfig{Wait: time.Millisecond}),
			Operators: []population.Operator{population.Rewrite{}, loop}})
		if err != nil {
			return err
		}
		arms = append(arms, search)
	}
	budget := evolve.Budget{Calls: calls, TuneEvaluations: calls, Stalls: -1}
	if inFlight == 1 { // which of two sessions gets what is left of a limit is chance
		budget.Rounds, budget.TuneEvaluations, budget.Calls = calls/12, 10*calls, 10*calls
	}
	r, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: inFlight,
		Journal: j,
		Budget:  budget})
	if err != nil {
		return err
	}
	data, err := json.Marshal(answeredIn(r))
	return errors.Join(err, j.Close(), os.WriteFile(filepath.Join(dir, "calls.json"), data, 0o600),
		result.Save(filepath.Join(dir, "result.json"), report.NewBandit(r,
			report.BanditHeader{ArmSeeds: make([]uint32, len(arms))})))
}

// answeredIn returns the answered calls of a result.
func answeredIn(r *evolve.Result) (calls []booked) {
	add := func(kind string, attempts []llm.Attempt) {
		for _, a := range attempts {
			if a.Status == llm.OK && a.Usage != nil {
				calls = append(calls, booked{kind, *a.Usage})
			}
		}
	}
	for _, arm := range r.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				add("child", c.Attempts)
			}
			for _, c := range g.Asides {
				add(c.Kind, c.Attempts)
			}
		}
	}
	return calls
}

// A till is a server's own account: the usage that it reported, which no two requests share, by what the request was for.
type till struct {
	*llmtest.Server
	mu       sync.Mutex
	reported map[llm.Usage]string
	again    int // requests that were sent before
}

// serve returns a server whose model wanders, and which fails in the given ways.
func serve(t *testing.T, faults ...llmtest.Fault) *till {
	s := &till{reported: map[llm.Usage]string{}}
	s.Server = llmtest.NewServer(llmtest.Config{
		Latency: llmtest.LogNormal{Median: 2 * time.Millisecond, Sigma: 1, Cap: 30 * time.Millisecond},
		Reply: func(r llmtest.Request) string {
			if len(r.Tools) > 0 {
				return "I see."
			}
			return fmt.Sprintf("```\n%d\n```", r.Seed%1000)
		},
		Calls: func(r llmtest.Request) []llm.ToolCall {
			edit := fmt.Sprintf(`{"path":"program.txt","new":"%d"}`, r.Seed%1000)
			calls := []llm.ToolCall{{Name: "edit", Arguments: edit}, {Name: "try"},
				{Name: "run", Arguments: `{"command":"date"}`}}
			if r.Seed%4 == 0 {
				calls = append(calls, llm.ToolCall{Name: "submit"})
			}
			return calls
		},
		Fault: func(r llmtest.Request) llmtest.Fault {
			if r.Occurrence > 0 {
				s.mu.Lock()
				s.again++
				s.mu.Unlock()
			}
			if len(faults) == 0 || r.Seed%3 != 0 || r.Occurrence > 2 {
				return ""
			}
			return faults[int(r.Seed/3+uint32(r.Occurrence))%len(faults)]
		},
		Usage: func(r llmtest.Request, _ string) llmtest.Usage {
			s.mu.Lock()
			defer s.mu.Unlock()
			u := llmtest.Usage{PromptTokens: 10, CompletionTokens: 1 + len(s.reported)}
			s.reported[u] = "child"
			if len(r.Tools) > 0 {
				s.reported[u] = "agent"
			}
			return u
		},
	})
	t.Cleanup(s.Close)
	return s
}

// check compares the answered calls of the result in dir with what the server says. lost is how many attempts were under
// way at kills, which the server may have answered.
func (s *till) check(t *testing.T, dir string, most, lost int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "calls.json"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []booked
	if err := json.Unmarshal(data, &calls); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, sessions := map[llm.Usage]bool{}, 0
	for _, c := range calls {
		if s.reported[c.Usage] != c.Kind || seen[c.Usage] {
			t.Errorf("the result has %+v for %s: the server reported that for %q (twice: %v)", c.Usage, c.Kind,
				s.reported[c.Usage], seen[c.Usage])
		}
		seen[c.Usage] = true
		if c.Kind == "agent" {
			sessions++
		}
	}
	answered := s.Stats().Ended["answered"]
	t.Logf("%d calls in the result, %d of them of sessions; the server answered %d", len(calls), sessions, answered)
	if len(calls) > answered || len(calls) < answered-lost || len(calls) > most || sessions < len(calls)/3 {
		t.Errorf("%d calls in the result, %d of them of sessions; the server answered %d, %d were lost, and the budget has %d", len(calls),
			sessions, answered, lost, most)
	}
}

// What sessions paid for is in the result to the token, whatever the endpoint does.
func TestBooks(t *testing.T) {
	killtest.Main(agentsRun)
	calls := notrun.Length(60, 600)
	srv := serve(t, "429", "503", "reset", "cut body", "hang first token", "error in stream", "no end")
	dir, _ := killtest.Undisturbed(t, srv.URL, "2", fmt.Sprint(calls))
	srv.check(t, dir, calls, 0)
}

var kills = flag.Int("kills", 0, "how often a run is killed; 0 means a few times")

// Killed again and again, a run pays for no session that ended once more, and with one search in flight its result is the
// undisturbed run's.
func TestBooksOfKills(t *testing.T) {
	killtest.Main(agentsRun)
	kills := cmp.Or(*kills, notrun.Length(3, 20))
	for inFlight, faults := range map[string][]llmtest.Fault{"1": nil, "2": {"429", "reset", "no end"}} {
		t.Run(inFlight, func(t *testing.T) {
			calls := 12 * kills
			undisturbed, took := killtest.Undisturbed(t, serve(t).URL, inFlight, fmt.Sprint(calls))
			srv := serve(t, faults...)
			dir, met := killtest.Killed(t, kills, 4*took/time.Duration(kills)+150*time.Millisecond, srv.URL, inFlight,
				fmt.Sprint(calls))
			lost := lost(t, filepath.Join(dir, "run.journal"))
			t.Logf("%d of %d kills met a run, and %d calls were lost", met, kills, lost)
			srv.check(t, dir, 10*calls, lost)
			if inFlight != "1" {
				return
			}
			if srv.again > lost {
				t.Errorf("%d requests were sent again, and %d were under way at kills", srv.again, lost)
			}
			if was, is := saved(t, undisturbed), saved(t, dir); !bytes.Equal(was, is) {
				t.Errorf("another result:\n%.1000s\n%.1000s", was, is)
			}
		})
	}
}

// lost returns how many attempts in the journal at path were begun and did not end.
func lost(t *testing.T, path string) (n int) {
	t.Helper()
	for r, err := range record.Read(path) {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Kind == record.Begin:
			n++
		case r.Kind == record.Tried, r.Kind == record.Completion:
			n--
		}
	}
	return n
}

// saved returns the scores of the result in dir, and not what differs between two runs: times, usage, what was lost.
func saved(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := json.Marshal(killtest.Saved(t, dir)["running_best"])
	if err != nil {
		t.Fatal(err)
	}
	return data
}
