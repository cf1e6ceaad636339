package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// scoredBy returns a task of which evaluate scores the programs.
func scoredBy(t *testing.T, evaluate eval.Func) task.Task {
	t.Helper()
	own, err := task.New(task.Spec{Name: "own", Language: "text", System: "s", Initial: "first", Evaluator: evaluate})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// ran opens the files of a run of own named r in dir and makes it, with a model that answers "another".
func ran(t *testing.T, ctx context.Context, o *Options, dir string, own task.Task) (*Files, *evolve.Result, error) {
	t.Helper()
	o.Output = dir
	f, err := o.Open("r.json", own, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	another := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{Text: "another"}, nil })
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: own, LLM: another, N: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: 1}, Journal: f.Journal,
		ValidStart: true})
	return f, r, err
}

// A run that asked the model for nothing leaves everything as it was, and says why.
func TestUnused(t *testing.T) {
	broken := errors.New("no interpreter")
	for _, tt := range []struct {
		reason   string
		evaluate func(stop func()) (eval.Result, error)
		check    func(err error) bool
	}{
		{"an invalid initial program is wrong usage",
			func(func()) (eval.Result, error) { return eval.Invalid("the ruler is lost"), nil },
			func(err error) bool {
				var usage *UsageError
				return errors.As(err, &usage) && strings.Contains(err.Error(),
					"initial program of task own is invalid: the ruler is lost; nothing was asked of the model")
			}},
		{"what else fails is told", func(func()) (eval.Result, error) { return eval.Result{}, broken },
			func(err error) bool { return errors.Is(err, broken) }},
		{"Ctrl-C ends it as it ends a run", func(stop func()) (eval.Result, error) {
			stop()
			return eval.Result{}, context.Canceled
		},
			func(err error) bool { return errors.Is(err, ErrCanceled) }},
	} {
		dir := fill(t, "r.json", "r.txt")
		journalOf(t, filepath.Join(dir, "r.journal"), "stop")
		before := held(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		own := scoredBy(t, func(context.Context, string) (eval.Result, error) { return tt.evaluate(cancel) })
		f, r, runErr := ran(t, ctx, &Options{}, dir, own)
		if len(r.Rounds) != 0 {
			t.Errorf("%s: %d rounds", tt.reason, len(r.Rounds))
		}
		if err := f.Unused(r, runErr); !tt.check(err) {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if after := held(t, dir); strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("%s: it left %v, found %v", tt.reason, after, before)
		}
		cancel()
	}
}

// Answers that the evaluation of the initial program got are kept, whatever ended it, and the reason is told.
func TestUnusedKeepsAnswers(t *testing.T) {
	broken := errors.New("no interpreter")
	judge := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{Text: "well"}, nil })
	for _, tt := range []struct {
		name   string
		asks   uint32
		ended  func(stop func()) (eval.Result, error) // how the evaluation ends, after an answer
		check  func(err error) bool
		finish bool // whether it goes on with the journal
	}{
		{"a budget that is too small is wrong usage", 2,
			func(func()) (eval.Result, error) { return eval.Result{Valid: true}, nil },
			func(err error) bool {
				var usage *UsageError
				return errors.As(err, &usage) && strings.Contains(err.Error(),
					"the budget of answered calls left no room for another child before the initial program of task own had a score")
			}, false},
		{"an invalid initial program", 1,
			func(func()) (eval.Result, error) { return eval.Invalid("the ruler is lost"), nil },
			func(err error) bool {
				return err != nil && strings.Contains(err.Error(), "(attempts: 1, answered calls: 1)")
			}, false},
		{"Ctrl-C", 1, func(stop func()) (eval.Result, error) { stop(); return eval.Result{}, context.Canceled },
			func(err error) bool { return errors.Is(err, ErrCanceled) }, true},
		{"a failure", 1, func(func()) (eval.Result, error) { return eval.Result{}, broken },
			func(err error) bool { return errors.Is(err, broken) }, true},
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		own := scoredBy(t, func(ctx context.Context, program string) (eval.Result, error) {
			for i := range tt.asks {
				if _, err := llm.Ask(ctx, judge, llm.Request{Seed: i}); err != nil {
					return eval.Result{}, err
				}
			}
			return tt.ended(cancel)
		})
		f, r, runErr := ran(t, ctx, &Options{}, dir, own)
		if len(r.Rounds) != 0 || r.Calls != 1 {
			t.Errorf("%s: %d rounds, %d calls", tt.name, len(r.Rounds), r.Calls)
		}
		var err error
		said := runtest.Output(t, func() { err = f.Unused(r, runErr) })
		if !tt.check(err) {
			t.Errorf("%s: %v", tt.name, err)
		}
		kept, readErr := os.ReadFile(filepath.Join(dir, "r.journal"))
		if readErr != nil || !strings.Contains(string(kept), "well") {
			t.Errorf("%s: the answer is lost: %v", tt.name, readErr)
		}
		if strings.Contains(said, "--resume") != tt.finish {
			t.Errorf("%s: it said %q", tt.name, said)
		}
		cancel()
	}
}

// A run that is gone on with keeps its journal, whatever keeps it from going on.
func TestUnusedKeepsWhatItGoesOnWith(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.journal")
	ok := scoredBy(t, func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })
	f, _, err := ran(t, t.Context(), &Options{}, dir, ok)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	o := Options{Resume: true, Output: dir}
	if f, err = o.Open("r.json", ok, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Unused(nil, errors.New("it cannot go on")); err == nil || !exists(path) {
		t.Errorf("error %v, journal there %v", err, exists(path))
	}
	f.Close()
}

// The initial program is evaluated once, and its result stands in the journal.
func TestInitialIsEvaluatedOnce(t *testing.T) {
	times := map[string]int{}
	own := scoredBy(t, func(_ context.Context, program string) (eval.Result, error) {
		times[program]++
		return eval.Result{Valid: true, Score: float64(len(program))}, nil
	})
	f, r, err := ran(t, t.Context(), &Options{}, t.TempDir(), own)
	if err != nil || r.Arms[0].Start.Result.Score != 5 || r.Best.Result.Score != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	if times["first"] != 1 || times["another"] != 1 {
		t.Errorf("evaluations: %v", times)
	}
	if run, err := history.Read(f.Journal.Path()); err != nil || run.Evaluated != 2 || run.Arms[0].Start.Value != 5 {
		t.Errorf("the journal tells of %+v, %v", run, err)
	}
}

// A run goes on with the rules that its journal was begun with: one without a word on ties is from before the flag, and
// strict, and what its policy and its breadth print tells whether they are from before they had other constants.
func TestKeepRules(t *testing.T) {
	const was, is = "Adaptive(second=0, waste=0.3, 1..64)", "Adaptive(second=0, waste=0.15, 1..64, kept)"
	now, then := &bandit.Challenge{T: 9}, &bandit.Challenge{T: 9, Cautious: true}
	if was != fmt.Sprint(breadth.Adaptive{Better: true}) || is != fmt.Sprint(breadth.Adaptive{}) ||
		then.String() != "Challenge(T=9)" {
		t.Fatal("the rules print otherwise than in journals")
	}
	own := scoredBy(t, func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })
	for _, tt := range []struct {
		reason string
		begun  journal.Fingerprint // of the journal; nil for a run without one
		policy bandit.Policy       // of its run; nil for none
		name   string
		resume bool
		strict bool    // what the flags say
		want   Options // of the rules
	}{
		{"a journal from before the flag", journal.Fingerprint{"N": "1"}, nil, "r", true, false, Options{Strict: true}},
		{"a journal of ties", journal.Fingerprint{ties: "taken"}, nil, "r", true, false, Options{}},
		{"the flag stands, and Open says that the journal is of another run", journal.Fingerprint{ties: "taken"}, nil, "r", true,
			true, Options{Strict: true}},
		{"a run that begins anew", journal.Fingerprint{"breadth": was}, then, "r", false, false, Options{}},
		{"no journal", nil, nil, "r", true, false, Options{}},
		{"a breadth that counts better children", journal.Fingerprint{ties: "taken", "breadth": was}, now, "r", true, false,
			Options{better: true}},
		{"one that counts kept ones", journal.Fingerprint{ties: "taken", "breadth": is}, now, "r", true, false, Options{}},
		{"a challenge of before", journal.Fingerprint{ties: "taken"}, then, "r", true, false, Options{cautious: true}},
		{"another policy", journal.Fingerprint{ties: "taken"}, &bandit.UCB1{}, "r", true, false, Options{}},
		{"a run that ended by a smaller T", journal.Fingerprint{ties: "taken", "breadth": was}, then, "r_C64_T1_N64", true, false,
			Options{better: true, cautious: true}},
	} {
		o := &Options{Output: t.TempDir(), Resume: tt.resume, Strict: tt.strict}
		if tt.begun != nil {
			j, err := journal.Open(filepath.Join(o.Output, tt.name+".journal"), journal.Config{Fingerprint: tt.begun})
			if err != nil {
				t.Fatal(err)
			}
			if tt.policy != nil {
				arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: own, LLM: llm.Func(nil)})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Policy: tt.policy,
					Budget: evolve.Budget{Evaluations: 1}, Journal: j}); err != nil {
					t.Fatal(err)
				}
			}
			j.Close()
		}
		if o.KeepRules(strings.Replace(tt.name, "C64_T1", "C128_T2", 1) + ".json"); o.Strict != tt.want.Strict ||
			o.better != tt.want.better || o.cautious != tt.want.cautious {
			t.Errorf("%s: strict %v, better %v, cautious %v, want %v, %v, %v", tt.reason, o.Strict, o.better, o.cautious,
				tt.want.Strict, tt.want.better, tt.want.cautious)
		}
	}
}

// The searches of a bandit have their seeds as its journal was begun.
func TestKeepArms(t *testing.T) {
	tk, err := task.New(task.Spec{Name: "numbers", Initial: "1", Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason string
		begun  journal.Fingerprint // of the journal; nil for a run without one
		resume bool
		strict bool
		want   bool
	}{
		{"a journal from before seeds were derived", journal.Fingerprint{"N": "1"}, true, false, true},
		{"a journal of derived seeds", journal.Fingerprint{ArmSeeds: "derived"}, true, false, false},
		{"a run that begins anew", journal.Fingerprint{"N": "1"}, false, false, false},
		{"the paper's protocol", nil, false, true, true},
		{"no journal", nil, true, false, false},
	} {
		o := &Options{Output: t.TempDir(), Resume: tt.resume, Strict: tt.strict}
		if tt.begun != nil {
			j, err := journal.Open(filepath.Join(o.Output, "r.journal"), journal.Config{Fingerprint: tt.begun})
			if err != nil {
				t.Fatal(err)
			}
			j.Close()
		}
		if got := o.KeepArms("r.json", tk, nil); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}
