package evolve_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// graded is a task whose evaluator has parts from first to last, each of which asks a model.
type graded struct {
	task.Task
	first, last int
	judge       *counting
}

// A grade is one of them.
type grade struct {
	t     task.Task
	judge *counting
	i     int
}

func (g grade) String() string { return fmt.Sprint("grade ", g.i) }

func (g grade) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	if _, err := llm.Ask(ctx, g.judge, llm.Request{Messages: []llm.Message{{Role: llm.User,
		Content: fmt.Sprint("grade ", g.i, " of ", program)}}}); err != nil {
		return eval.Result{}, err
	}
	return g.t.Evaluate(ctx, program)
}

func (g graded) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return eval.Compose(ctx, g, program)
}

func (g graded) Parts(string, int) (parts []eval.Evaluator, err error) {
	for i := g.first; i <= g.last; i++ {
		parts = append(parts, grade{g.Task, g.judge, i})
	}
	return parts, nil
}

func (g graded) Join(_ string, parts []eval.Result) (eval.Result, error) { return parts[0], nil }

// A run remembers each part of an evaluation, also where two evaluations have it in common, and resumes from every record
// of its journal to the same result, with no part asked for twice.
func TestParts(t *testing.T) {
	run := func(path string) (*evolve.Result, []byte, *counting) {
		j := openJournal(t, path)
		defer j.Close()
		judge := newCounting(instant)
		numbers := newNumbers(t, "0")
		tk, first := graded{numbers, 2, 5, judge}, graded{numbers, 1, 3, judge}
		s := &screening{Breeder: evolve.Breeder{Task: tk, LLM: climber}, first: first}
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{s}, Journal: j, Budget: evolve.Budget{Rounds: 3}})
		return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
			ArmSeeds: make([]uint32, 1)})), judge
	}
	path := journalPath(t)
	res, want, judge := run(path)
	asked := judge.total()
	if asked < 12*4 || res.Evaluations != asked {
		t.Errorf("%d questions and %d evaluations", asked, res.Evaluations)
	}
	for question, times := range judge.sent {
		if times > 1 {
			t.Errorf("%s is asked %d times", question, times)
		}
	}
	for cut := range killtest.Every(t, path, 3, 5) {
		_, got, again := run(cut.Path)
		answered := cut.Count("completion")
		if !bytes.Equal(thisLife(t, got), thisLife(t, want)) || again.total() > max(0, asked+12-answered) {
			t.Fatalf("with %d of %d records, %d of them answers: another result, or %d questions again of %d", cut.Records,
				cut.Of, answered, again.total(), asked)
		}
	}
}

// A part behind a limit is the same evaluation as without, so a run that asks for both makes it once.
func TestPartsBehindALimit(t *testing.T) {
	judge := newCounting(instant)
	all := graded{newNumbers(t, "0"), 1, 5, judge}
	s := &screening{Breeder: evolve.Breeder{Task: task.WithEvaluator(all, eval.Limit(all, 2)), LLM: climber},
		first: graded{all.Task, 1, 3, judge}}
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Rounds: 2}})
	for question, times := range judge.sent {
		if times > 1 {
			t.Errorf("%s is asked %d times", question, times)
		}
	}
	if asked := judge.total(); asked < 5*5 || res.Evaluations != asked {
		t.Errorf("%d questions and %d evaluations", asked, res.Evaluations)
	}
}

// screening is a search that scores a program with some parts before all of them.
type screening struct {
	evolve.Breeder
	first eval.Evaluator
}

func (s *screening) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	step := s.Steps()
	return s.Breed(ctx, turn, 4, func(i int) evolve.Brief {
		b := evolve.Brief{Seed: evolve.ChildSeed(40, 4, step, i)}
		b.Request.Parents = []eval.Candidate{s.Best()}
		b.Admit = func(ctx context.Context, program string) (string, error) {
			_, err := turn.Evaluate(ctx, s.first, program, 0)
			return "", err
		}
		return b
	}, nil)
}
