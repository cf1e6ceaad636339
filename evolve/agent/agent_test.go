package agent_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/tree"
)

// call is a call of a tool with arguments as JSON.
func call(name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: "1", Name: name, Arguments: arguments}
}

// answer is a reply that calls tools.
func answer(calls ...llm.ToolCall) llm.Reply {
	for i := range calls {
		calls[i].ID = fmt.Sprint(i)
	}
	return llm.Reply{Calls: calls, Attempts: []llm.Attempt{{Status: llm.OK,
		Usage: &llm.Usage{PromptTokens: 100, CompletionTokens: 10}}}}
}

// A script answers with its replies in order, and with the last one for ever. It keeps what it was asked.
type script struct {
	replies []llm.Reply
	asked   []llm.Request
}

func (s *script) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	s.asked = append(s.asked, req)
	return s.replies[min(len(s.asked), len(s.replies))-1], nil
}

// last returns the last message that the script was asked with.
func (s *script) last() string {
	m := s.asked[len(s.asked)-1].Messages
	return m[len(m)-1].Content
}

// session makes one child of a session on the task by hand, and returns it.
func session(t *testing.T, l *agent.Loop, tk task.Task, model llm.LLM) evolve.Child {
	t.Helper()
	b := &evolve.Breeder{Task: tk, LLM: model}
	gen, err := b.Breed(t.Context(), nil, 1, func(int) evolve.Brief {
		return evolve.Brief{Make: l.Make(tk, b.Best())}
	}, nil)
	if err != nil || len(gen.Children) != 1 {
		t.Fatal(gen, err)
	}
	return gen.Children[0]
}

func TestSession(t *testing.T) {
	tk := runtest.Number(task.Spec{Initial: "1", System: "Write a larger number."})
	s := &script{replies: []llm.Reply{
		answer(call("list", ""), call("read", `{"path":"program.txt"}`)),
		answer(call("edit", `{"path":"program.txt","old":"1","new":"5"}`), call("try", "{}")),
		answer(call("submit", "")),
	}}
	c := session(t, &agent.Loop{}, tk, s)
	if c.Program != "5" || c.Result.Score != 5 || len(s.asked) != 3 {
		t.Errorf("%+v after %d calls", c, len(s.asked))
	}
	if got := s.asked[0]; len(got.Tools) != 6 || !strings.Contains(got.Messages[0].Content, "Write a larger number.") ||
		!strings.Contains(got.Messages[1].Content, "scores 1.000000") {
		t.Errorf("asked first with %+v", got)
	}
	if m := s.asked[2].Messages; len(m) != 8 || m[4].Content == "" || m[7].Role != llm.ToolResult || m[7].CallID != "1" ||
		!strings.HasPrefix(m[7].Content, "score 5.000000 in the mode tune") ||
		!strings.Contains(m[7].Content, "[call 2 of 30, 220 of 400000 tokens, try 1 of 10]") {
		t.Errorf("asked last with %+v", m)
	}
}

// Tries may be scored by another evaluator than what is submitted.
func TestTriesOnCheaperCases(t *testing.T) {
	cheap := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		return eval.Result{Valid: true, Score: -1}, nil
	})
	s := &script{replies: []llm.Reply{answer(call("edit", `{"path":"program.txt","new":"5"}`), call("try", "")),
		answer(call("submit", ""))}}
	c := session(t, &agent.Loop{On: cheap}, runtest.Number(task.Spec{Initial: "1"}), s)
	if c.Result.Score != 5 || !strings.HasPrefix(s.last(), "score -1.000000 in the mode tune") {
		t.Errorf("%+v, told %q", c, s.last())
	}
}

// A tunable task has an evaluator for tuners, or an error in its place.
type tunable struct {
	task.Task
	err error
}

func (t tunable) TuneEvaluator(context.Context) (eval.Evaluator, error) {
	return eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{Valid: true, Score: -2}, nil
	}), t.err
}

// Without an On, tries are scored as the task has it for tuners.
func TestTriesAsTheTaskHasThem(t *testing.T) {
	for _, tt := range []struct {
		err          error
		says, reason string
	}{
		{nil, "score -2.000000 in the mode tune", "it has one"},
		{fmt.Errorf("no evaluate_tune: %w", errors.ErrUnsupported), "score 5.000000 in the mode tune", "it has none"},
	} {
		s := &script{replies: []llm.Reply{answer(call("edit", `{"path":"program.txt","new":"5"}`), call("try", "")),
			answer(call("submit", ""))}}
		c := session(t, &agent.Loop{}, tunable{runtest.Number(task.Spec{Initial: "1"}), tt.err}, s)
		if c.Result.Score != 5 || !strings.HasPrefix(s.last(), tt.says) {
			t.Errorf("%s: %+v, told %q", tt.reason, c, s.last())
		}
	}
	tk := tunable{runtest.Number(task.Spec{Initial: "1"}), errors.New("the interpreter is gone")}
	s := &script{replies: []llm.Reply{answer(call("try", "")), answer(call("submit", ""))}}
	b := &evolve.Breeder{Task: tk, LLM: s}
	_, err := b.Breed(t.Context(), nil, 1, func(int) evolve.Brief {
		return evolve.Brief{Make: (&agent.Loop{}).Make(tk, b.Best())}
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "the interpreter is gone") {
		t.Errorf("an evaluator that does not start: %v", err)
	}
}

// The text form needs no tools of the model.
func TestTextForm(t *testing.T) {
	block := func(s string) llm.Reply {
		return llm.Reply{Text: "Let me see.\n```tool\n" + s + "\n```\n", Attempts: []llm.Attempt{{Status: llm.OK}}}
	}
	s := &script{replies: []llm.Reply{
		block(`{"name":"edit","arguments":{"path":"program.txt","new":"7"}}`), block(`not JSON`), block(`{"name":"submit"}`)}}
	c := session(t, &agent.Loop{Text: true}, runtest.Number(task.Spec{Initial: "1"}), s)
	if c.Program != "7" || len(s.asked) != 3 || s.asked[0].Tools != nil ||
		!strings.Contains(s.asked[0].Messages[0].Content, "- edit: ") {
		t.Errorf("%+v after %d calls", c, len(s.asked))
	}
	if !strings.Contains(s.last(), `error: there is no tool "not JSON"`) {
		t.Errorf("the model was told %q of a block that is no call", s.last())
	}
}

// What a model writes costs its session alone, and it is told what was wrong.
func TestHostileCalls(t *testing.T) {
	for _, tt := range []struct {
		call llm.ToolCall
		want string
	}{
		{call("rm -rf", ""), "there is no tool"},
		{call("run", `{"command":"id"}`), "there is no tool"},
		{call("read", "{"), "the arguments are not"},
		{call("read", `{"path":1}`), "the arguments are not"},
		{call("read", `{"path":"program.txt","mode":"w"}`), "the arguments are not"},
		{call("read", `{"path":"../../etc/passwd"}`), "there is no file"},
		{call("read", `{"path":"program.txt","from":-5,"lines":-1}`), "1"},
		{call("read", `{"path":"program.txt","from":9223372036854775807}`), "no lines"},
		{call("search", `{"pattern":"("}`), "error parsing regexp"},
		{call("search", `{"pattern":"(a*)*b"}`), "none"},
		{call("edit", `{"path":"/etc/passwd","new":"x"}`), "there is no file"},
		{call("edit", `{"path":"program.txt","old":"2","new":"x"}`), "old stands 0 times"},
		{call("edit", `{"path":"program.txt","delete":true}`), "cannot be deleted"},
		{call("edit", `{"path":"program.txt","new":"1"}`), ""},
		{call("submit", ""), "nothing has changed yet"},
		{llm.ToolCall{Name: strings.Repeat("x", 1<<20)}, "there is no tool"},
	} {
		s := &script{replies: []llm.Reply{answer(tt.call),
			answer(call("edit", `{"path":"program.txt","new":"2"}`), call("submit", ""))}}
		c := session(t, &agent.Loop{Bounds: agent.Bounds{Tokens: 4 << 20}}, runtest.Number(task.Spec{Initial: "1"}), s)
		if c.Program != "2" || len(s.asked) != 2 {
			t.Errorf("%.60s %s: %+v", tt.call.Name, tt.call.Arguments, c)
		}
		if told := s.last(); !strings.Contains(told, tt.want) || len(told) > 20_000 {
			t.Errorf("%.60s %s: told %.300q, want %q", tt.call.Name, tt.call.Arguments, told, tt.want)
		}
	}
}

// A session that does not end by itself is ended by its bounds, with the best program that it tried.
func TestBounds(t *testing.T) {
	number := func(n string) llm.ToolCall { return call("edit", `{"path":"program.txt","new":"`+n+`"}`) }
	costly := answer(number("2"))
	costly.Attempts[0].Usage.PromptTokens = 10_000
	for _, tt := range []struct {
		reason  string
		loop    *agent.Loop
		replies []llm.Reply
		calls   int
		program string // "" for none
	}{
		{"calls", &agent.Loop{Bounds: agent.Bounds{Calls: 4}},
			[]llm.Reply{answer(number("9"), call("try", "")), answer(number("3"), call("try", "")), answer(call("list", ""))}, 4,
			"9"},
		{"tokens", &agent.Loop{Bounds: agent.Bounds{Tokens: 35_000}}, []llm.Reply{costly}, 2, "2"}, // a call may cost some 20,000
		{"money", &agent.Loop{Bounds: agent.Bounds{Money: 1.5, Price: &llm.Price{Prompt: 100}}}, []llm.Reply{costly}, 2, "2"},
		{"replies without a call", &agent.Loop{}, []llm.Reply{answer()}, 3, ""},
		{"nothing changed", &agent.Loop{Bounds: agent.Bounds{Calls: 2}}, []llm.Reply{answer(call("list", ""))}, 2, ""},
		{"tries", &agent.Loop{Bounds: agent.Bounds{Tries: -1, Calls: 2}}, []llm.Reply{answer(number("2"), call("try", ""))},
			2, "2"},
		{"many calls in one reply", &agent.Loop{Bounds: agent.Bounds{Calls: 1}},
			[]llm.Reply{answer(append(make([]llm.ToolCall, 40), number("2"))...)}, 1, ""},
	} {
		s := &script{replies: tt.replies}
		c := session(t, tt.loop, runtest.Number(task.Spec{Initial: "1"}), s)
		if c.Program != tt.program || len(s.asked) != tt.calls || (c.Err == "") != (tt.program != "") {
			t.Errorf("%s: %q (%s) after %d calls, want %q after %d", tt.reason, c.Program, c.Err, len(s.asked), tt.program,
				tt.calls)
		}
	}
}

// What is wrong with a Loop ends the run, as no child can be made.
func TestWrongBounds(t *testing.T) {
	tk := runtest.Number(task.Spec{})
	search, err := population.New(population.Config{Task: tk, LLM: &script{}, N: 1, Operators: []population.Operator{
		&agent.Loop{Bounds: agent.Bounds{Calls: -1}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{search}, Budget: evolve.Budget{Calls: 3}})
	if err == nil || !strings.Contains(err.Error(), "Bounds.Calls is -1") {
		t.Errorf("%v", err)
	}
}

// A failed call does not end a session, three in a row do.
func TestFailedCalls(t *testing.T) {
	asked := 0
	model := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		if asked++; asked == 3 {
			return answer(call("edit", `{"path":"program.txt","new":"2"}`)), nil
		}
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed}}}, errors.New("no luck")
	})
	if c := session(t, &agent.Loop{}, runtest.Number(task.Spec{Initial: "1"}), model); c.Program != "2" || asked != 6 {
		t.Errorf("%+v after %d calls", c, asked)
	}
}

// Files of a tree are edited one by one, and frozen ones only read.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "sub/b.txt": "three\n", "test.txt": "frozen\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755),
			os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tk, err := tree.New(tree.Config{Base: dir, Open: []string{"**.txt"}, Frozen: []string{"test.txt"},
		About: "Shorten it.",
		Evaluator: eval.Func(func(_ context.Context, p string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(p))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	shell := func(_ context.Context, program, line string) (string, error) {
		return "ran " + line + " on " + program, nil
	}
	s := &script{replies: []llm.Reply{
		answer(call("list", `{"path":"sub/"}`), call("read", `{"path":"test.txt"}`), call("search", `{"pattern":"t[wh]"}`)),
		answer(call("edit", `{"path":"test.txt","new":"thawed"}`), call("edit", `{"path":"a.txt","old":"two\n","new":""}`),
			call("edit", `{"path":"sub/b.txt","delete":true}`), call("edit", `{"path":"new.txt","new":"four"}`),
			call("list", "{}"), call("run", `{"command":"ls"}`)),
		answer(call("submit", ""))}}
	c := session(t, &agent.Loop{Shell: shell}, tk, s)
	files, deleted, err := tk.Changes(c.Program)
	if err != nil || fmt.Sprint(files) != "map[a.txt:one\n new.txt:four\n]" || fmt.Sprint(deleted) != "[sub/b.txt]" {
		t.Errorf("%q, %q, %v", files, deleted, err)
	}
	told := func(at int) string { return s.asked[2].Messages[at].Content }
	for at, want := range map[int]string{3: "sub/b.txt\n", 4: "frozen\n", 5: "a.txt:2: two\nsub/b.txt:1: three\n",
		7: "error: test.txt is frozen: it may not be changed", 8: "done\n", 11: "a.txt\nnew.txt\ntest.txt\n"} {
		if !strings.HasPrefix(told(at), want) {
			t.Errorf("message %d is %q, want %q", at, told(at), want)
		}
	}
	if got := told(12); !strings.HasPrefix(got, "ran ls on base ") || !strings.Contains(got, "new.txt") {
		t.Errorf("the shell ran %q", got)
	}
}

// A wandering model edits by its seed, tries, and submits now and then.
func wandering(asked *atomic.Int64) llm.LLM {
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		asked.Add(1)
		r := rand.New(rand.NewPCG(uint64(req.Seed), 1))
		edit, _ := json.Marshal(map[string]string{"path": "program.txt", "new": fmt.Sprint(r.IntN(1000))})
		calls := []llm.ToolCall{call("edit", string(edit)), call("try", ""), call("run", `{"command":"date"}`)}
		if r.IntN(4) == 0 {
			calls = append(calls, call("submit", ""))
		}
		return answer(calls...), nil
	})
}

// In a run all of it is on the books, also when the run is cut at any call and goes on, and though commands print another
// thing each time. No limit is reached: which of two sessions gets what is left of one is chance.
func TestSessionsInARun(t *testing.T) {
	var printed atomic.Int64
	run := func(ctx context.Context, dir string, model llm.LLM) *evolve.Result {
		j, err := journal.Open(filepath.Join(dir, "j"), journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		loop := &agent.Loop{Bounds: agent.Bounds{Calls: 6}, Shell: func(context.Context, string, string) (string, error) {
			return fmt.Sprint(printed.Add(1)), nil
		}}
		search, err := population.New(population.Config{Task: runtest.Number(task.Spec{Initial: "1"}), LLM: model, N: 3,
			Seed:      5,
			Operators: []population.Operator{population.Rewrite{}, loop}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{search}, Journal: j,
			Budget: evolve.Budget{Rounds: 8, Calls: 1000, TuneEvaluations: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var asked atomic.Int64
	whole := run(t.Context(), t.TempDir(), wandering(&asked))
	if int(asked.Load()) != whole.Calls || whole.Calls < 40 || whole.TuneEvaluations < 10 ||
		whole.Best.Result.Score < 500 {
		t.Fatalf("%d calls of %d, %d tries, best %v", whole.Calls, asked.Load(), whole.TuneEvaluations,
			whole.Best.Result.Score)
	}
	for _, cut := range []int64{1, 5, 17, 33} {
		var asked atomic.Int64
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		model := wandering(&asked)
		run(ctx, dir, llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if asked.Load() == cut {
				cancel()
			}
			return model.Generate(ctx, req)
		}))
		r := run(t.Context(), dir, model)
		if r.Calls != whole.Calls || int(asked.Load()) != r.Calls || r.TuneEvaluations != whole.TuneEvaluations ||
			r.Best.Program != whole.Best.Program {
			t.Errorf("cut at call %d: %d calls (%d made) and %d tries for %q, want %d and %d for %q", cut, r.Calls, asked.Load(),
				r.TuneEvaluations, r.Best.Program, whole.Calls, whole.TuneEvaluations, whole.Best.Program)
		}
		cancel()
	}
}

// A journal and a result say the same of what sessions cost, by operator, and a reader of the journal gets transcripts.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	srv := serve(t)
	if err := agentsRun(dir, []string{srv.URL, "1", "60"}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	var was *history.Totals
	told, err := history.Read(filepath.Join(dir, "run.journal"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := result.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	held, err := file.History()
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*history.Run{"run.journal": told, "result.json": held} {
		for _, of := range r.Totals().By(history.ByOperator) {
			if of.Name != "agent" {
				continue
			}
			calls++
			if of.Cost.Calls < 10 || of.Cost.Tokens.Prompt != 10*of.Cost.Calls || of.Children == 0 {
				t.Errorf("%s: %+v", name, of)
			}
			if was != nil && (was.Cost.Calls != of.Cost.Calls || was.Cost.Tokens != of.Cost.Tokens ||
				was.Children != of.Children) {
				t.Errorf("the journal says %+v, the result %+v", was, of)
			}
			was = &of
		}
	}
	if calls != 2 {
		t.Errorf("%d of 2 files have the operator", calls)
	}
	transcripts := 0
	_, add := history.New(nil, func(_ int, text string) {
		if strings.HasPrefix(text, "A session of ") && strings.Contains(text, "edit {") && strings.Contains(text, "score ") {
			transcripts++
		}
	})
	for r, err := range record.Read(filepath.Join(dir, "run.journal")) {
		if err != nil {
			t.Fatal(err)
		}
		add(r)
	}
	if transcripts < 3 {
		t.Errorf("%d transcripts", transcripts)
	}
}

// A page shows the session that made a program of the best one's line.
func TestPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	search, err := population.New(population.Config{Task: runtest.Number(task.Spec{Initial: "1"}),
		LLM: wandering(new(atomic.Int64)), N: 2,
		Operators: []population.Operator{&agent.Loop{}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{search}, Journal: j,
		Budget: evolve.Budget{Rounds: 3, TuneEvaluations: 100}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	shown, err := view.ReadJournal(t.Context(), path, "run")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := view.Report(&page, view.Page{Title: "run", Runs: []view.Run{shown}}); err != nil {
		t.Fatal(err)
	}
	data := regexp.MustCompile(`[A-Za-z0-9+/=]{500,}`).FindString(page.String())
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A session of ", " tries:", "try {}: score", "edit {"} {
		if !strings.Contains(string(text), want) && !strings.Contains(string(text), strings.Replace(want, " {}", " ", 1)) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

// A session in a population can look at what the search has made before, and at nothing else.
func TestEarlierPrograms(t *testing.T) {
	s := &script{replies: []llm.Reply{
		answer(call("edit", `{"path":"program.txt","new":"4"}`), call("submit", "")),
		answer(call("edit", `{"path":"program.txt","new":"no number"}`), call("submit", "")),
		answer(call("earlier", ""), call("read", `{"path":"program.txt","of":2}`),
			call("read", `{"path":"program.txt","of":0}`),
			call("list", `{"of":7}`), call("search", `{"pattern":"4","of":1}`)),
		answer(call("edit", `{"path":"program.txt","new":"5"}`), call("submit", "")),
	}}
	search, err := population.New(population.Config{Task: runtest.Number(task.Spec{Initial: "1"}), LLM: s, N: 1,
		Archive:   population.All(),
		Operators: []population.Operator{&agent.Loop{}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{search}, Budget: evolve.Budget{Rounds: 3}})
	if err != nil || r.Best.Program != "5" || len(s.asked) != 4 {
		t.Fatalf("%q after %d calls, %v", r.Best.Program, len(s.asked), err)
	}
	m := s.asked[3].Messages
	for i, want := range []string{"1: score 4.000000\n", "no number", "1", "error: there is no earlier program 7",
		"program.txt:1: 4"} {
		if got := m[3+i].Content; !strings.HasPrefix(got, want) {
			t.Errorf("result %d is %q, want %q", i, got, want)
		}
	}
	if !strings.Contains(m[3].Content, "2: not valid: not a number\n") {
		t.Errorf("listed are %q", m[3].Content)
	}
}
