package text_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/text"
)

// config is that of nine words, which are to be shouted.
func config() text.Config {
	s := words()
	return text.Config{Name: "shout", Initial: "Repeat the word.", Target: shouter, Score: text.Exact, Train: s.Train,
		Validation: s.Validation, HeldOut: s.HeldOut}
}

func newTask(t *testing.T, c text.Config) *text.Task {
	t.Helper()
	tk, err := text.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func evaluate(t *testing.T, tk task.Task, program string) eval.Result {
	t.Helper()
	r, err := tk.Evaluate(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNewChecksItsConfig(t *testing.T) {
	parts := func(names ...string) (list []text.Part) {
		for _, n := range names {
			list = append(list, text.Part{Name: n, Text: "x"})
		}
		return list
	}
	for _, tt := range []struct {
		change       func(c *text.Config)
		want, reason string
	}{
		{func(c *text.Config) {}, "", "all is there"},
		{func(c *text.Config) { c.Name = "a/b" }, `"a/b"`, "the name is a path's element"},
		{func(c *text.Config) { c.Target = nil }, "Target is nil", "nobody answers"},
		{func(c *text.Config) { c.Score = nil }, "one of Config.Score", "nobody scores"},
		{func(c *text.Config) { c.Scorer = eval.Func(nil) }, "one of Config.Score", "two would score"},
		{func(c *text.Config) { c.Initial = "" }, "one of Config.Initial", "a search needs a start"},
		{func(c *text.Config) { c.Initial = " \n" }, "prompt is empty", "white space asks for nothing"},
		{func(c *text.Config) { c.Initial = "a\x00" }, "NUL", "it could not be kept"},
		{func(c *text.Config) { c.Parts = parts("a") }, "one of Config.Initial", "there would be two prompts"},
		{func(c *text.Config) { c.Initial, c.Parts = "", parts("a", "a") }, `named "a"`, "replies could not name a part"},
		{func(c *text.Config) { c.Initial, c.Parts = "", parts("a\nb") }, "Parts[0].Name", "a header is one line"},
		{func(c *text.Config) { c.Train = nil }, "Train has 0", "there would be no feedback"},
		{func(c *text.Config) { c.HeldOut = nil }, "HeldOut has 0", "the claim could not be checked"},
		{func(c *text.Config) { c.HeldOut = c.Validation }, "same ID", "they would not be held out"},
		{func(c *text.Config) { c.HeldOut = []text.Case{{ID: "new", Input: c.Train[0].Input}} }, "same input",
			"nor would they under another name"},
		{func(c *text.Config) { c.Train = []text.Case{{Input: "x"}} }, "ID is", "results name cases"},
		{func(c *text.Config) { c.Worst = math.NaN() }, "Worst is NaN", "no score is"},
		{func(c *text.Config) { c.Show = -1 }, "Show is -1", "not a number of cases"},
		{func(c *text.Config) { c.MaxPrompt = 5 }, "at most 5", "the initial prompt has to fit"},
	} {
		c := config()
		tt.change(&c)
		_, err := text.New(c)
		if (err != nil) != (tt.want != "") || err != nil &&
			(!strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "text: ")) {
			t.Errorf("%v, want %q: %s", err, tt.want, tt.reason)
		}
	}
}

// A prompt is answered by as it stands, whatever is in it, and what cannot be a prompt costs no call.
func TestHostilePrompts(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	c := config()
	c.Target = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return shouter(ctx, req)
	})
	tk := newTask(t, c)
	for _, tt := range []struct {
		program string
		valid   bool
		reason  string
	}{
		{strings.Repeat("x", 1<<20), false, "a megabyte"},
		{strings.Repeat("x", 64<<10), true, "as much as is allowed"},
		{"", false, "nothing"},
		{"a\x00b", false, "NUL cannot be sent to all endpoints"},
		{"a\xff", false, "nor can what is not UTF-8"},
		{"\x1b[2J capital letters \u202e", true, "control characters are the model's to read"},
		{"--- part: role ---\nx", true, "what looks like a part is text where there are none"},
		{"say {input} in capital letters {input}", true, "the placeholder twice"},
		{"```\n</think>", true, "an open block"},
		{strings.Repeat("{input}", 16), true, "the placeholder as often as is allowed"},
		{strings.Repeat("{input}", 16+1), false, "a message many times as long as the prompt and the input"},
	} {
		asked = 0
		if r := evaluate(t, tk, tt.program); r.Valid != tt.valid || (asked > 0) != tt.valid {
			t.Errorf("%s: valid %v after %d calls: %s", tt.reason, r.Valid, asked, r.Reason)
		}
	}
}

// A prompt with the placeholder is one message of the user, and any other is the system's.
func TestPlaceholder(t *testing.T) {
	var got []llm.Message
	c := config()
	c.Target = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		got = req.Messages
		return answered(""), nil
	})
	c.Train, c.Validation = c.Train[:1], c.Validation[:1]
	c.Validation[0].Input, c.Train[0].Input = "IN", "in"
	tk := newTask(t, c)
	for prompt, want := range map[string][]llm.Message{
		"Say it.":                     {{Role: "system", Content: "Say it."}, {Role: "user", Content: "IN"}},
		"Say {input} and {input}.\n ": {{Role: "user", Content: "Say IN and IN."}},
	} {
		parts, err := tk.Parts(prompt, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parts[0].Evaluate(t.Context(), prompt); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q asks %q, %v, want %q", prompt, got, err, want)
		}
	}
}

// The worst train cases are shown with what was wrong, in bounded length, and nothing of other cases is.
func TestFeedback(t *testing.T) {
	c := config()
	c.Show, c.Reflect = 2, 3
	for i := range c.Train {
		c.Train[i].Input += strings.Repeat(" train", 1000)
	}
	c.Score = func(in text.Case, reply string) (float64, string) {
		return float64(len(in.ID)), "said of " + in.ID + strings.Repeat("!", 1<<20)
	}
	tk := newTask(t, c)
	r := evaluate(t, tk, tk.Initial())
	prompt := tk.Prompt(task.Request{Parents: []eval.Candidate{{Program: tk.Initial(), Result: r}}})[1].Content
	if n := strings.Count(prompt, "said of "); n != 2 || len(prompt) > 10_000 {
		t.Errorf("%d cases are shown in %d bytes, want 2", n, len(prompt))
	}
	for _, of := range append(slices.Clone(c.Validation), c.HeldOut...) {
		if strings.Contains(prompt, "said of "+of.ID) {
			t.Errorf("case %s is shown", of.ID)
		}
	}
	if len(r.Cases) != 3 || r.Score != (r.Cases[0]+r.Cases[1]+r.Cases[2])/3 {
		t.Errorf("score %v of cases %v", r.Score, r.Cases)
	}
}

// failing is a target that fails with an error, for prompts that hold a word.
func failing(word string, err error) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if !strings.Contains(req.Messages[0].Content, word) {
			return shouter(ctx, req)
		}
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.StatusOf(err), Err: err.Error(), MaxTokens: 100}}}, err
	})
}

// What a prompt may bring about is a bad prompt. What the target does is an error, and no prompt is called invalid for it.
func TestTargetsFail(t *testing.T) {
	fail := func(s llm.Status, kind string) error {
		return &llm.Error{Status: s, Kind: kind, Endpoint: "http://target", Err: errors.New("it is down")}
	}
	for _, tt := range []struct {
		err     error
		word    string // of the prompts that fail
		invalid string
		fails   string
		reason  string
	}{
		{fail(llm.Timeout, ""), "long", "none of 3 cases", "", "a prompt may make the target write without end"},
		{fail(llm.Failed, llm.KindContextLength), "long", "none of 3 cases", "", "or not fit"},
		{fail(llm.Failed, llm.KindBadRequest), "long", "none of 3 cases", "", "or not be accepted"},
		{fail(llm.Timeout, ""), "", "", "none of 3 cases by the initial prompt", "the first prompt is not to blame"},
		{fail(llm.Failed, llm.KindServer), "long", "", `asking the target for case`, "a server that fails"},
		{fail(llm.Failed, llm.KindRefused), "long", "", "it is down", "a server that is gone"},
		{errors.New("no weights"), "long", "", "no weights", "a model that is not one of ours"},
	} {
		c := config()
		c.Target = failing(tt.word, tt.err)
		tk := newTask(t, c)
		program := "A long prompt."
		if tt.word == "" {
			program = c.Initial
		}
		r, err := tk.Evaluate(t.Context(), program)
		switch {
		case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
			t.Errorf("%s: %+v, %v, want an error that says %q", tt.reason, r, err, tt.fails)
		case tt.fails == "" && (err != nil || r.Valid || !strings.Contains(r.Reason, tt.invalid)):
			t.Errorf("%s: %+v, %v, want it invalid: %q", tt.reason, r, err, tt.invalid)
		}
	}
}

// Of a prompt to which some cases have no reply, these score the worst.
func TestSomeUnanswered(t *testing.T) {
	c := config()
	c.Worst = -5
	late := &llm.Error{Status: llm.Stalled, Err: errors.New("no tokens")}
	c.Target = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if req.Messages[1].Content == c.Validation[1].Input {
			return llm.Reply{}, late
		}
		return shouter(ctx, req)
	})
	if r := evaluate(t, newTask(t, c), "in capital letters"); !r.Valid || !slices.Equal(r.Cases, []float64{1, -5, 1}) ||
		r.Metrics["unanswered"] != 1 {
		t.Errorf("%+v", r)
	}
}

// That the few cases of a batch, or those of the feedback, have no reply is chance. It ends no run, and is not held against
// a prompt whose score is known.
func TestFewUnanswered(t *testing.T) {
	c := config()
	c.Reflect = 1
	c.Target = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if slices.ContainsFunc(c.Train, func(in text.Case) bool { return in.Input == req.Messages[1].Content }) {
			return llm.Reply{}, &llm.Error{Status: llm.Timeout, Err: errors.New("no tokens")}
		}
		return shouter(ctx, req)
	})
	tk := newTask(t, c)
	if r := evaluate(t, tk, tk.Initial()); !r.Valid || r.Metrics["unanswered"] != 1 {
		t.Errorf("without feedback: %+v", r)
	}
	if r, err := tk.Minibatch(0, 2).Evaluate(t.Context(), tk.Initial()); err != nil || r.Valid {
		t.Errorf("a batch without replies: %+v, %v", r, err)
	}
}

// A run whose target is gone stops with an error, and its candidates are not called invalid. Refusals are replies.
func TestRunStopsWithItsTarget(t *testing.T) {
	for _, tt := range []struct {
		target llm.LLM
		fails  string
		reason string
	}{
		{failing("capital", &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("overloaded")}),
			"overloaded", "the target fails while the run goes on"},
		{llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return answered("I cannot help with that."), nil
		}), "", "it refuses"},
		{llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return answered(""), nil }), "",
			"it has nothing to say"},
	} {
		c := config()
		c.Target = tt.target
		c.Score = func(in text.Case, reply string) (float64, string) {
			score, _ := text.Exact(in, reply)
			return score, "Write it in capital letters."
		}
		arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: newTask(t, c), LLM: reflective,
			N: 40, Window: 1}) // 32 failures end a run; children that are alike and under way at once would share one
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1}})
		if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v", tt.reason, err)
		}
		for _, g := range res.Arms[0].Generations {
			for _, child := range g.Children {
				if child.Scored() && !child.Result.Valid {
					t.Errorf("%s: a child is invalid: %s", tt.reason, child.Result.Reason)
				}
			}
		}
	}
}

// A target that hangs is given up when the run is.
func TestTargetHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Target = llm.Func(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			<-ctx.Done()
			return llm.Reply{}, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		_, err := newTask(t, c).Evaluate(ctx, "x")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

// Cases of one evaluation are asked at once, and no more of them than a limit lets.
func TestAtOnce(t *testing.T) {
	for _, limit := range []int{1, 2, 6} {
		synctest.Test(t, func(t *testing.T) {
			c := config()
			c.Target = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				time.Sleep(time.Second)
				return shouter(ctx, req)
			})
			tk := newTask(t, c)
			limited := task.WithEvaluator(tk, eval.Limit(tk, limit))
			begin := time.Now()
			evaluate(t, limited, "x")
			if took := time.Since(begin); took != time.Duration(6/limit)*time.Second {
				t.Errorf("6 cases of a second take %v at %d at once", took, limit)
			}
		})
	}
}

// A function that panics is an error which names the case, and a score that is no number makes the prompt invalid.
func TestScoresGoWrong(t *testing.T) {
	c := config()
	c.Score = func(text.Case, string) (float64, string) { panic("division by zero") }
	_, err := newTask(t, c).Evaluate(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "Config.Score panicked on case") ||
		!strings.Contains(err.Error(), "division by zero") {
		t.Errorf("a panic is %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		c.Score = func(text.Case, string) (float64, string) { return bad, "" }
		if r := evaluate(t, newTask(t, c), "x"); r.Valid || !strings.Contains(r.Reason, fmt.Sprint(bad)) {
			t.Errorf("a score of %v is %+v", bad, r)
		}
	}
}

// An evaluator in the place of Score is given the case and the reply. What it calls invalid scores the worst.
func TestScorer(t *testing.T) {
	c := config()
	c.Score, c.Worst = nil, -1
	c.Scorer = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		if strings.Contains(program, `"input":"`+c.Validation[0].Input+`"`) {
			return eval.Invalid("not a number"), nil
		}
		return eval.Result{Valid: true, Score: float64(strings.Count(program, `"reply":"`)),
			Artifacts: map[string]string{"why": program}}, nil
	})
	r := evaluate(t, newTask(t, c), "x")
	if !slices.Equal(r.Cases, []float64{-1, 1, 1}) {
		t.Errorf("cases %v", r.Cases)
	}
}

// Batches take every train case once in a round, and equal ones are equal.
func TestMinibatches(t *testing.T) {
	c := config()
	tk := newTask(t, c)
	seen := map[string]int{}
	for i := range 6 {
		b := tk.Minibatch(i, 1)
		if b != tk.Minibatch(i, 1) {
			t.Errorf("batch %d is not equal to itself", i)
		}
		parts, err := b.(eval.Composite).Parts("x", 0)
		if err != nil || len(parts) != 1 {
			t.Fatal(parts, err)
		}
		seen[fmt.Sprint(parts[0])]++
	}
	for name, n := range seen {
		if n != 2 || !strings.Contains(name, "train") {
			t.Errorf("%s is in %d batches of 2 rounds", name, n)
		}
	}
	parts, err := tk.Minibatch(1, 2).(eval.Composite).Parts("x", 0) // from the end of a round into the next
	if err != nil || len(parts) != 2 || parts[0] == parts[1] {
		t.Errorf("a batch is %v, %v", parts, err)
	}
}

// Another sample is asked for anew, with other seeds, which are the same for all prompts.
func TestSamples(t *testing.T) {
	var mu sync.Mutex
	seeds := map[string][]uint32{}
	c := config()
	c.Target = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		key := req.Messages[0].Content
		seeds[key] = append(seeds[key], req.Seed)
		return answered(""), nil
	})
	tk := newTask(t, c)
	for i, prompt := range []string{"A", "B", "C"} {
		sample := i / 2 // 0, 0, 1
		if _, err := eval.ComposeBy(tk, prompt, sample, func(part eval.Evaluator) (eval.Result, error) {
			return part.Evaluate(t.Context(), prompt)
		}, nil); err != nil {
			t.Fatal(err)
		}
		slices.Sort(seeds[prompt])
	}
	if !slices.Equal(seeds["A"], seeds["B"]) || slices.ContainsFunc(seeds["C"],
		func(s uint32) bool { return slices.Contains(seeds["A"], s) }) {
		t.Errorf("seeds %v", seeds)
	}
}
