package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A maker is a task that makes a new evaluator for tuners each time that it is asked.
type maker struct {
	task.Task
	made, tried *int
}

func (m maker) TuneEvaluator(context.Context) (eval.Evaluator, error) {
	*m.made++
	return &counted{m.tried}, nil
}

// A counted evaluator counts what it scores.
type counted struct{ tried *int }

func (e *counted) Evaluate(context.Context, string) (eval.Result, error) {
	*e.tried++
	return eval.Result{Valid: true, Score: -2}, nil
}

// Tries do not pass by what stands around a task's evaluator, such as a limit or workers.
func TestTriesStayWithinAnotherEvaluator(t *testing.T) {
	var news, tried, scored int
	own := runtest.Number(task.Spec{Initial: "1"})
	tk := task.WithEvaluator(maker{own, &news, &tried},
		eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			scored++
			return own.Evaluate(ctx, program)
		}))
	s := &script{replies: []llm.Reply{answer(call("edit", `{"path":"program.txt","new":"5"}`), call("try", "")),
		answer(call("edit", `{"path":"program.txt","new":"6"}`), call("submit", ""))}}
	c := session(t, &agent.Loop{}, task.WithBounds(tk, nil), s)
	if c.Result.Score != 6 || !strings.HasPrefix(s.last(), "score 5.000000 in the mode tune") || news+tried > 0 ||
		scored != 3 {
		t.Errorf("%+v, told %q; %d made, %d tries by them, %d scored", c, s.last(), news, tried, scored)
	}
}

// A task is asked for its evaluator for tuners once, so that one of its own each time is not another one to a journal:
// the same program is tried once, and a run that is resumed tries nothing.
func TestTriesOfATaskThatMakesNewEvaluators(t *testing.T) {
	var news, tried int
	tk := maker{runtest.Number(task.Spec{Initial: "1"}), &news, &tried}
	dir := t.TempDir()
	for round, want := range []int{1, 1} {
		s := &script{replies: []llm.Reply{answer(call("edit", `{"path":"program.txt","new":"5"}`), call("try", "")),
			answer(call("submit", ""))}}
		for n := range 3 { // whose sessions differ, so that each is made
			s.replies = append(s.replies, answer(call("edit", `{"path":"program.txt","new":"5"}`), call("try", ""),
				call("edit", fmt.Sprintf(`{"path":"program.txt","new":"%d"}`, 6+n)), call("submit", "")))
		}
		j, err := journal.Open(filepath.Join(dir, "j"), journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		search, err := population.New(population.Config{Task: tk, LLM: s, N: 1,
			Operators: []population.Operator{&agent.Loop{}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{search}, Journal: j,
			Budget: evolve.Budget{Rounds: 3, TuneEvaluations: 9}})
		if err != nil || r.Best.Program != "7" {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if tried != want || round == 0 && news != 1 || round == 1 && len(s.asked) > 0 {
			t.Errorf("round %d: %d evaluators made, %d programs tried, %d calls", round, news, tried, len(s.asked))
		}
	}
}

// Two Loops on one task try the same program once, though each of them asked the task for an evaluator and got another.
func TestTriesOfTwoLoops(t *testing.T) {
	var news, tried int
	tk := maker{runtest.Number(task.Spec{Initial: "1"}), &news, &tried}
	s := &script{}
	for n := range 4 {
		s.replies = append(s.replies, answer(call("edit", `{"path":"program.txt","new":"5"}`), call("try", ""),
			call("edit", fmt.Sprintf(`{"path":"program.txt","new":"%d"}`, 6+n)), call("submit", "")))
	}
	var arms []evolve.Arm
	for seed := range uint32(2) {
		search, err := population.New(population.Config{Task: tk, LLM: s, N: 1, Seed: seed,
			Operators: []population.Operator{&agent.Loop{}}})
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, search)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: bandit.Random{}, InFlight: 1,
		Budget: evolve.Budget{RoundsPerArm: 2, TuneEvaluations: 9}})
	if err != nil || len(r.Arms[0].Generations) != 2 || len(r.Arms[1].Generations) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if news != 2 || tried != 1 || r.TuneEvaluations != 1 {
		t.Errorf("%d evaluators made, %d programs tried, %d counted", news, tried, r.TuneEvaluations)
	}
}
