package evolve_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// asked is the task with an evaluator that asks a judge of every program, through llm.Ask.
func asked(tk task.Task, judge llm.LLM) task.Task {
	return task.WithEvaluator(tk, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		if _, err := llm.Ask(ctx, judge, llm.Request{Messages: []llm.Message{{Role: llm.User,
			Content: "Is it good?\n" + program}}}); err != nil {
			return eval.Result{}, err
		}
		return tk.Evaluate(ctx, program)
	}))
}

// What an evaluator asks of a model is a call of the run, also where it scores the program that a search begins
// with, and also of an arm that is never drawn.
func TestCallsOfEvaluators(t *testing.T) {
	path := journalPath(t)
	model, judge := newCounting(climber), newCounting(instant)
	run := func(b evolve.Budget) *evolve.Result {
		j := openJournal(t, path)
		defer j.Close()
		tk := asked(newNumbers(t, "0"), judge)
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: tk, LLM: model, N: 4, Seed: 40}, 3)
		if err != nil {
			t.Fatal(err)
		}
		list[2].(*evolve.Greedy).Task = asked(newNumbers(t, "1"), judge) // another program to begin with
		return mustRun(t, evolve.Config{Arms: list, Policy: bandit.Random{}, Journal: j, Budget: b})
	}
	for _, life := range []string{"made", "made again"} {
		res := run(evolve.Budget{Rounds: 1})
		sent, counted, kinds := model.total()+judge.total(), 0, map[string]int{}
		for range res.EachCall {
			counted++
		}
		for _, arm := range res.Arms {
			for _, c := range arm.Asides {
				kinds["before "+c.Kind]++
			}
			for _, g := range arm.Generations {
				for _, c := range g.Asides {
					kinds[c.Kind]++
				}
			}
		}
		if counted != sent || res.Calls != sent || kinds["before evaluation"] != 2 || kinds["evaluation"] != judge.total()-2 {
			t.Errorf("%s: %d calls were made, %d are in the result, which counts %d: %v", life, sent, counted, res.Calls, kinds)
		}
	}
}

// An evaluation that is cut off while it asks is a bad program, and its call is in the result, also when that is made
// again.
func TestCallsOfEvaluationsThatAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		judge := newCounting(slowly(func(req llm.Request) time.Duration {
			if strings.HasSuffix(req.Messages[0].Content, "\n0") {
				return 0
			}
			return time.Duration(len(req.Messages[0].Content)%4) * time.Second
		}))
		run := func() (*evolve.Result, []byte) {
			j := openJournal(t, path)
			defer j.Close()
			arm := newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), reworded(judge)), LLM: climber, N: 8,
				Seed: 40})
			res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Journal: j,
				Budget: evolve.Budget{Rounds: 3, EvalTime: time.Hour, EvalWorst: 1500 * time.Millisecond}})
			return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
				ArmSeeds: make([]uint32, 1)}))
		}
		res, first := run()
		n, cut := 0, 0
		for attempts := range res.EachCall {
			n++
			if attempts[0].Status == llm.Canceled {
				cut++
			}
		}
		if n != judge.total()+24 || cut == 0 {
			t.Errorf("%d calls in the result, %d of them cut off; %d were made", n, cut, judge.total()+24)
		}
		res, again := run()
		if diff := cmp.Diff(string(first), string(again)); diff != "" ||
			len(res.Earlier.Abandoned)+len(res.Earlier.Unclaimed) > 0 {
			t.Errorf("made again: %+v (-first +again)\n%s", res.Earlier, diff)
		}
	})
}

// reworded is a model that is asked as climber is, of another question.
func reworded(l llm.LLM) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		req.Messages = []llm.Message{{Role: llm.User, Content: "```text\n0\n```\n" + req.Messages[0].Content}}
		return l.Generate(ctx, req)
	})
}

// The calls before the first draw are within the budget too.
func TestCallsBeforeTheFirstDraw(t *testing.T) {
	var list []evolve.Arm
	judge := newCounting(instant)
	for _, initial := range []string{"1", "2", "3", "4", "5"} {
		list = append(list, newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, initial), judge), LLM: climber, N: 4}))
	}
	res := mustRun(t, evolve.Config{Arms: list, Policy: bandit.Random{}, Budget: evolve.Budget{Calls: 3}})
	if res.Limit != "Calls" || res.Calls != 3 || judge.total() != 3 || len(res.Rounds) != 0 {
		t.Errorf("stopped by %s %s after %d calls of 3, in %d rounds", res.Stop, res.Limit, res.Calls, len(res.Rounds))
	}
}

// silent is a search that says nothing of what goes wrong before its first step.
type silent struct{ careless }

func (s *silent) Start(ctx context.Context, turn *evolve.Turn) error {
	s.best.Program = s.task.Initial()
	s.best.Result, _ = turn.Evaluate(ctx, s.task, s.best.Program, 0)
	return nil
}

// An evaluator that is gone before the first step ends the run, whatever the search makes of it.
func TestEvaluatorGoneBeforeTheFirstStep(t *testing.T) {
	model := newCounting(climber)
	gone := task.WithEvaluator(newNumbers(t, "0"), eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{}, errors.New("no interpreter is left")
	}))
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{&silent{careless{task: gone, llm: model}}},
		Budget: evolve.Budget{Calls: 9}})
	if err == nil || !strings.Contains(err.Error(), "no interpreter is left") || res.Stop != evolve.StopError ||
		model.total() != 0 {
		t.Errorf("stopped by %s after %d calls: %v", res.Stop, model.total(), err)
	}
}
