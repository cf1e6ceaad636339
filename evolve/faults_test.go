package evolve_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
)

// Whatever kind of search it is, and however little care its author took: a fault costs what it must, and
// everything that was paid for is in the result.
func TestSearchesUnderFaults(t *testing.T) {
	for _, row := range []struct {
		fault, must string
		check       func(*testing.T, kindOfSearch)
		few         bool // the normal run has greedy search and one without a Breeder alone
	}{
		{"one HTTP 500", "one child is lost, and the run goes on", oneServerError, false},
		{"evaluator gone", "the run ends at once, with what it paid for", evaluatorGone, false},
		{"endpoint refuses every connection", "the run ends, and no call counts as answered", noEndpoint, false},
		{"key rejected", "the run ends, and what is on the wire is awaited and scored", keyRejected, false},
		{"Ctrl-C with grace", "what is on the wire is awaited and scored", ctrlC(1), true},
		{"Ctrl-C with grace, 3 arms in flight", "what is on the wire is awaited and scored", ctrlC(3), false},
		{"token limit", "the run ends within it, and nothing is cut off", tokenLimit, false},
		{"killed and finished runs resumed", "no answered call is made again", resumedAnywhere, true},
		{"asks beside the children", "they count as calls", besideChildren, true},
	} {
		for _, s := range searches {
			if !notrun.Soak && row.few && s.name != "greedy" && s.name != "careless" {
				continue
			}
			t.Run(row.fault+"/"+s.name, func(t *testing.T) {
				row.check(t, s)
				if t.Failed() {
					t.Logf("with %s: %s", row.fault, row.must)
				}
			})
		}
	}
}

// small is the model of these tests.
var small = llm.Model{Key: "small", Name: "example/Small", ActiveParams: 1000, MaxTokens: 400}

// once is a retry that never tries again.
var once = llm.RetryConfig{Max: -1}

// tellsAll checks that the result has every request that the server saw.
func tellsAll(t *testing.T, res *evolve.Result, srv *llmtest.Server) {
	t.Helper()
	attempts := 0
	for range res.Attempts {
		attempts++
	}
	if seen := srv.Stats().Calls; attempts != seen {
		t.Errorf("%d attempts in the result, the server saw %d requests", attempts, seen)
	}
}

// fates counts the children of a result: those with a score, and those without.
func fates(res *evolve.Result) (scored, lost int) {
	for _, arm := range res.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				switch {
				case c.HasProgram() && c.Result.Valid:
					scored++
				case c.Asked():
					lost++
				}
			}
		}
	}
	return scored, lost
}

func oneServerError(t *testing.T, s kindOfSearch) {
	srv, l := connect(t, llmtest.Config{Reply: improveAlike, Fault: func(r llmtest.Request) llmtest.Fault {
		if r.Ordinal == 5 {
			return "500"
		}
		return ""
	}}, small, 8, once)
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{s.arm(t, newNumbers(t, "0"), l, 40)},
		Budget: evolve.Budget{Calls: 24}})
	scored, lost := fates(res)
	if res.Limit != "Calls" || res.Calls != 24 || scored != 24 || lost != 1 {
		t.Errorf("stopped by %s after %d calls, with %d children scored and %d lost, want 24 and 1", res.Limit, res.Calls,
			scored, lost)
	}
	tellsAll(t, res, srv)
}

func evaluatorGone(t *testing.T, s kindOfSearch) {
	srv, l := connect(t, llmtest.Config{Reply: improveAlike}, small, 8, once)
	tk := newNumbers(t, "0")
	gone := task.WithEvaluator(tk, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		if strings.TrimSpace(program) != tk.Initial() {
			return eval.Result{}, errors.New("no interpreter is left")
		}
		return tk.Evaluate(ctx, program)
	}))
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s.arm(t, gone, l, 40)},
		Budget: evolve.Budget{Calls: 100}})
	if err == nil || !strings.Contains(err.Error(), "no interpreter is left") || res.Stop != evolve.StopError {
		t.Fatalf("stopped by %s: %v", res.Stop, err)
	}
	if seen := srv.Stats().Calls; seen < 1 || seen > s.n {
		t.Errorf("%d requests were sent, want at most the %d that a step makes at once", seen, s.n)
	}
	tellsAll(t, res, srv)
}

func noEndpoint(t *testing.T, s kindOfSearch) {
	client, err := openai.New(openai.Config{Seed: true, BaseURL: "http://127.0.0.1:1/v1", Model: small}) // a port that nobody is given
	if err != nil {
		t.Fatal(err)
	}
	l := llm.Retry(llm.Limit(client, 8), once)
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s.arm(t, newNumbers(t, "0"), l, 40)},
		Budget: evolve.Budget{Calls: 10}})
	if !llm.Unavailable(err) || res.Stop != evolve.StopError || res.Calls != 0 {
		t.Fatalf("stopped by %s with %d calls answered: %v", res.Stop, res.Calls, err)
	}
	attempts := 0
	for a := range res.Attempts {
		if attempts++; a.Status != llm.Failed || a.Kind != llm.KindRefused {
			t.Errorf("an attempt ended as %s %s", a.Status, a.Kind)
		}
	}
	if attempts < 1 || attempts > s.n {
		t.Errorf("%d attempts, want at most the %d of a step", attempts, s.n)
	}
}

// apart is a latency that differs from call to call.
var apart = llmtest.LogNormal{Median: 60 * time.Millisecond, Sigma: 0.7, Cap: 300 * time.Millisecond}

// whenOnWire returns a Config.Fault that calls then once n requests have come, before any is answered.
func whenOnWire(n int, then func(llmtest.Request) llmtest.Fault) func(llmtest.Request) llmtest.Fault {
	var come atomic.Int64
	all := make(chan struct{})
	return func(r llmtest.Request) llmtest.Fault {
		if come.Add(1) == int64(n) {
			close(all)
		}
		<-all
		return then(r)
	}
}

func keyRejected(t *testing.T, s kindOfSearch) {
	srv, l := connect(t, llmtest.Config{Reply: improveAlike, Latency: apart,
		Fault: whenOnWire(s.n, func(r llmtest.Request) llmtest.Fault {
			if r.Ordinal == 0 {
				return "401"
			}
			return ""
		})}, small, s.n, once)
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s.arm(t, newNumbers(t, "0"), l, 40)},
		Budget: evolve.Budget{Calls: 100}})
	scored, lost := fates(res)
	good := int(srv.Stats().Calls) - 1 // a steady search may ask once more before it hears of the key
	if !llm.Unavailable(err) || res.Stop != evolve.StopError || res.Calls != good || scored != good || lost != 1 ||
		good < s.n-1 {
		t.Errorf("stopped by %s after %d calls with %d children scored and %d lost, want %d and 1: %v", res.Stop, res.Calls,
			scored, lost, good, err)
	}
	if gone := srv.Stats().Gone; len(gone) > 0 {
		t.Errorf("%d calls on the wire were cut off", len(gone))
	}
	tellsAll(t, res, srv)
}

// ctrlC is the row for so many arms in flight.
func ctrlC(inFlight int) func(*testing.T, kindOfSearch) {
	return func(t *testing.T, s kindOfSearch) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		calls := s.n * inFlight
		srv, l := connect(t, llmtest.Config{Reply: improveAlike, Latency: apart,
			Fault: whenOnWire(calls, func(llmtest.Request) llmtest.Fault {
				interrupt()
				return ""
			})}, small, calls, once)
		var arms []evolve.Arm
		for i := range inFlight {
			arms = append(arms, s.arm(t, newNumbers(t, "0"), l, uint32(i)))
		}
		res, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: bandit.Random{}, InFlight: inFlight, Grace: time.Minute,
			Budget: evolve.Budget{Calls: 1000}})
		scored, lost := fates(res)
		if err != nil || res.Stop != evolve.StopCanceled || res.Calls != calls || scored != calls || lost != 0 {
			t.Errorf("stopped by %s after %d calls with %d children scored and %d lost, want %d and none: %v", res.Stop,
				res.Calls, scored, lost, calls, err)
		}
		if gone := srv.Stats().Gone; len(gone) > 0 {
			t.Errorf("%d calls on the wire were cut off", len(gone))
		}
		tellsAll(t, res, srv)
	}
}

func tokenLimit(t *testing.T, s kindOfSearch) {
	srv, l := connect(t, llmtest.Config{Reply: improveAlike, Latency: llmtest.Constant(time.Millisecond)}, small, 8, once)
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{s.arm(t, newNumbers(t, "0"), l, 40)},
		Budget: evolve.Budget{Tokens: 6000, Models: []llm.Model{small}}})
	spent := 0
	for a := range res.Attempts {
		spent += a.Usage.PromptTokens + a.Usage.CompletionTokens
	}
	if _, lost := fates(res); res.Stop != evolve.StopBudget || res.Limit != "Tokens" || spent > 6000 || spent < 4000 ||
		lost > 0 {
		t.Errorf("stopped by %s %s after %d tokens of 6000, with %d children lost", res.Stop, res.Limit, spent, lost)
	}
	if gone := srv.Stats().Gone; len(gone) > 0 {
		t.Errorf("%d calls on the wire were cut off", len(gone))
	}
	tellsAll(t, res, srv)
}

// resumedAnywhere makes a run with a plain task and model, and goes on with it from the first part of its
// journal, as a kill leaves it.
func resumedAnywhere(t *testing.T, s kindOfSearch) {
	path := journalPath(t)
	srv, l := connect(t, llmtest.Config{Reply: improveAlike}, small, 8, once)
	run := func(path string) *evolve.Result {
		j := openJournal(t, path)
		defer j.Close()
		return mustRun(t, evolve.Config{Arms: []evolve.Arm{s.arm(t, newNumbers(t, "0"), l, 40)}, Journal: j,
			Budget: evolve.Budget{Calls: 48}})
	}
	want := run(path)
	for cut := range killtest.Every(t, path, 4, 29) {
		answered := cut.Count("completion")
		before := srv.Stats().Calls
		res := run(cut.Path)
		if made := srv.Stats().Calls - before; made != 48-answered || res.Calls != 48 {
			t.Errorf("with %d of %d records and %d answers: %d calls were made, want %d", cut.Records, cut.Of, answered, made,
				48-answered)
		}
		if res.Best.Program != want.Best.Program && s.name != "steady greedy" { // where what ends first decides
			t.Errorf("with %d of %d records: the best is %q, want %q", cut.Records, cut.Of, res.Best.Program, want.Best.Program)
		}
	}
}

// judged asks for a summary after every sixteen children of an arm, and tells nobody of the call.
type judged struct {
	evolve.Arm
	llm  llm.LLM
	made int
}

func (j *judged) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	gen, err := j.Arm.Step(ctx, turn)
	for range gen.Children {
		if j.made++; j.made%16 == 0 {
			turn.Ask(ctx, "summary", j.llm, llm.Request{Seed: uint32(j.made),
				Messages: []llm.Message{{Role: llm.User, Content: "What was learned?"}}})
		}
	}
	return gen, err
}

func besideChildren(t *testing.T, s kindOfSearch) {
	srv, l := connect(t, llmtest.Config{Reply: improveAlike}, small, 8, once)
	path := journalPath(t)
	for _, life := range []string{"made", "made again"} {
		j := openJournal(t, path)
		arm := &judged{Arm: s.arm(t, newNumbers(t, "0"), l, 40), llm: l}
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Journal: j, Budget: evolve.Budget{Calls: 255}})
		j.Close()
		children, summaries := 0, 0
		for _, g := range res.Arms[0].Generations {
			children += len(g.Children)
			for _, c := range g.Asides {
				if c.Kind == "summary" {
					summaries++
				}
			}
		}
		if seen := srv.Stats().Calls; seen != 255 || res.Calls != 255 || res.Limit != "Calls" || children != 240 ||
			summaries != 15 {
			t.Errorf("%s: %d calls counted of %d made, %d children and %d summaries; stopped by %s", life, res.Calls, seen,
				children, summaries, res.Limit)
		}
		if n := len(records(t, path, record.Completion)); n != 255 {
			t.Errorf("%s: the journal has %d answers", life, n)
		}
		tellsAll(t, res, srv)
	}
}

// records returns those of a kind in the journal at path.
func records(t *testing.T, path string, kind record.Kind) (of []record.Record) {
	t.Helper()
	for r, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == kind {
			of = append(of, r)
		}
	}
	return of
}
