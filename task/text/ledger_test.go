package text_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task/text"
)

// A usage counts the calls of one kind.
type usage struct{ calls, prompt, cached, completion int }

func (u usage) plus(calls, prompt, cached, completion int) usage {
	return usage{u.calls + calls, u.prompt + prompt, u.cached + cached, u.completion + completion}
}

// A serverLog is what a server was asked, by kind.
type serverLog struct {
	mu   sync.Mutex
	seen map[string]usage
}

// kindOf tells what a request is for by what it says.
func kindOf(messages []llm.Message) string {
	switch last := messages[len(messages)-1].Content; {
	case strings.Contains(last, "VERDICT: NEW"):
		return "judge"
	case strings.Contains(last, "Note what is new"):
		return "insights"
	case strings.HasPrefix(messages[0].Content, "You improve a prompt"):
		return "child"
	}
	return "evaluation"
}

// answer writes the answer to a request: as the target for a case, a verdict, notes, or a prompt with a line more.
func answer(req llmtest.Request) string {
	r := req.Rand("answer")
	last := req.Messages[len(req.Messages)-1].Content
	switch kindOf(req.Messages) {
	case "judge":
		return []string{"VERDICT: NEW", "VERDICT: SAME"}[r.IntN(2)]
	case "insights":
		return fmt.Sprintf("- Rule %d has helped.", r.IntN(1000))
	case "evaluation":
		reply, _ := shouter(context.Background(), req.Request)
		return reply.Text
	}
	_, program, _ := strings.Cut(last, "```\n")
	program, _, _ = strings.Cut(program, "\n```")
	rules := []string{"Use capital letters.", "Be brief.", "Say only the word.", "Do not explain.", "Mind the spelling."}
	return "```\n" + program + "\n" + rules[r.IntN(len(rules))] + "\n```"
}

// serve starts a server that logs each request.
func serve(t *testing.T) (*llmtest.Server, *serverLog) {
	t.Helper()
	log := &serverLog{seen: map[string]usage{}}
	srv := llmtest.NewServer(llmtest.Config{Reply: answer, Usage: func(req llmtest.Request, reply string) llmtest.Usage {
		u := llmtest.CountUsage(req, reply)
		log.mu.Lock()
		defer log.mu.Unlock()
		k := kindOf(req.Messages)
		log.seen[k] = log.seen[k].plus(1, u.PromptTokens, u.CachedTokens, u.CompletionTokens)
		return u
	}})
	t.Cleanup(func() { srv.Close() })
	return srv, log
}

// judged is a search on prompts with a gate that asks, a memory that asks, and cases that are asked.
func judged(t *testing.T, url string) *population.Population {
	t.Helper()
	client, err := openai.New(openai.Config{Seed: true, BaseURL: url, Model: llm.Models()[0]})
	if err != nil {
		t.Fatal(err)
	}
	model := llm.Limit(client, 8)
	c := config()
	c.Target = model
	c.Score = func(in text.Case, reply string) (float64, string) {
		return float64(len(reply)%5) / 5, "Write it otherwise."
	}
	tk := newTask(t, c)
	p, err := population.New(population.Config{Task: tk, LLM: model, N: 6, Seed: 40, Archive: population.Top(9),
		Select: population.Uniform(),
		Gates: []population.Gate{
			population.GateFunc(func(ctx context.Context, v *population.View, program string) (why string, err error) {
				reply, err := v.Ask(ctx, "judge", model, []llm.Message{{Role: llm.User, Content: "VERDICT: NEW or SAME?"}})
				if strings.Contains(reply.Text, "SAME") {
					why = "it is judged the same"
				}
				if why != "" || err != nil || v.Birth%2 == 0 {
					return why, err
				}
				return population.Screen{On: func(v *population.View) eval.Evaluator { return tk.Minibatch(v.Step, 2) }}.
					Admit(ctx, v, program)
			}),
		},
		Memory: []population.Memory{&population.Scratchpad{Every: 5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runJudged makes or resumes a run, and returns its report.
func runJudged(t *testing.T, path, url string) report.Bandit {
	t.Helper()
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{judged(t, url)}, Budget: evolve.Budget{Rounds: 5},
		Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	return report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: llm.Models()[0]},
		ArmSeeds: make([]uint32, 1)})
}

// byKind is what a report says of calls, by what they were for.
func byKind(file report.Bandit) map[string]usage {
	arm := file.ArmResults[0]
	kinds := map[string]usage{}
	for name, u := range arm.Uses {
		kinds[name] = usage{u.Calls, u.Tokens.Prompt, u.Tokens.Cached, u.Tokens.Completion}
	}
	child := usage{}
	for _, gen := range arm.Trajectory {
		for _, row := range gen.Children {
			for _, a := range row.Attempts {
				child = child.plus(1, a.Usage.PromptTokens, a.Usage.CachedTokens, a.Usage.CompletionTokens)
			}
		}
	}
	kinds["child"] = child
	return kinds
}

// What children, judges, notes and cases ask of a server is in the result to the last call and token, by kind, and so are
// their FLOPs. It is so too for a run that was killed after any record of its journal and resumed, which asks for nothing
// twice that it has.
func TestLedgerAddsUpWithTheServer(t *testing.T) {
	srv, log := serve(t)
	path := filepath.Join(t.TempDir(), "run.journal")
	file := runJudged(t, path, srv.URL)
	want := byKind(file)
	if diff := cmp.Diff(log.seen, want, cmp.AllowUnexported(usage{})); diff != "" {
		t.Fatalf("the server's log and the result differ (-server +result):\n%s", diff)
	}
	if kinds := slices.Sorted(maps.Keys(want)); !slices.Equal(kinds,
		[]string{"child", "evaluation", "insights", "judge"}) {
		t.Fatalf("calls are of the kinds %v, so the test does not see the others", kinds)
	}
	checkFLOPs(t, file, log.seen)

	for cut := range killtest.About(t, path, 2, 8) {
		again, more := serve(t)
		resumed := runJudged(t, cut.Path, again.URL)
		if diff := cmp.Diff(want, byKind(resumed), cmp.AllowUnexported(usage{})); diff != "" {
			t.Fatalf("killed after record %d of %d, the result has other calls (-undisturbed +resumed):\n%s", cut.Records,
				cut.Of, diff)
		}
		checkFLOPs(t, resumed, log.seen)
		had, sent, all := cut.Count("completion"), 0, 0
		for _, u := range more.seen {
			sent += u.calls
		}
		for _, u := range want {
			all += u.calls
		}
		if had+sent != all {
			t.Errorf("killed after record %d of %d: %d answers are kept and %d requests are sent, of %d calls", cut.Records,
				cut.Of, had, sent, all)
		}
		if begun := cut.Count("begin"); resumed.Total != nil && resumed.Total.Lost != begun-had {
			t.Errorf("killed after record %d: %d calls were begun and %d have an answer; %d are lost", cut.Records, begun, had,
				resumed.Total.Lost)
		}
	}
}

// checkFLOPs checks the FLOPs of a run against those of the tokens that a server counted.
func checkFLOPs(t *testing.T, file report.Bandit, seen map[string]usage) {
	t.Helper()
	var u llm.Usage
	for _, k := range seen {
		u.PromptTokens += k.prompt
		u.CachedTokens += k.cached
		u.CompletionTokens += k.completion
	}
	want := flops.Sum(slices.Values([]llm.Attempt{{Status: llm.OK, Usage: &u}}), file.Active, flops.WorstCase).TotalFLOPs
	if got := file.FLOPs.WorstCase.TotalFLOPs; got < want*(1-1e-12) || got > want*(1+1e-12) {
		t.Errorf("%v FLOPs, and %v by the server's tokens", got, want)
	}
}

// A run that ends amid an evaluation, because the budget has no room for more of its cases or the target score is reached,
// is reproduced by its journal without a call, and so is one that was killed before and went on.
func TestRunsEndAmidEvaluations(t *testing.T) {
	for _, tt := range []struct {
		budget evolve.Budget
		reason string
	}{
		{evolve.Budget{Calls: 70}, "no room for calls"},
		{evolve.Budget{Evaluations: 45}, "no room for cases"},
		{evolve.Budget{Rounds: 9, Target: new(0.9)}, "a score is reached"},
	} {
		srv, log := serve(t)
		sent := func() (n int) {
			log.mu.Lock()
			defer log.mu.Unlock()
			for _, u := range log.seen {
				n += u.calls
			}
			return n
		}
		run := func(path string) []byte {
			t.Helper()
			j, err := journal.Open(path, journal.Config{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			cfg := evolve.Config{Policy: bandit.Random{}, InFlight: 2, Budget: tt.budget, Journal: j}
			for range 2 {
				cfg.Arms = append(cfg.Arms, judged(t, srv.URL))
			}
			res, err := evolve.Run(t.Context(), cfg)
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			data, err := json.Marshal(report.NewBandit(res, report.BanditHeader{ArmSeeds: make([]uint32, 2)}))
			if err != nil {
				t.Fatal(err)
			}
			return killtest.WithoutTimes(data)
		}
		path := filepath.Join(t.TempDir(), "run.journal")
		run(path)
		for cut := range killtest.About(t, path, 2, 3) {
			first, before := run(cut.Path), sent()
			if again := run(cut.Path); !bytes.Equal(first, again) || sent() != before {
				t.Fatalf("%s: with %d of %d records: %d calls again, and another result:\n%.2000s", tt.reason, cut.Records, cut.Of,
					sent()-before, cmp.Diff(string(first), string(again)))
			}
		}
	}
}
