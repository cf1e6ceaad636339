package population_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// goals are what the lines of a program are to be.
var goals = []float64{3, -1, 4, -1, 5, -9}

// slots is a task whose programs are one number a line, scored by their distances from goals, which are its cases.
func slots() (task.Task, error) {
	return task.New(task.Spec{Name: "slots", Language: "text", System: "Find the numbers.", Initial: "0\n0\n0\n0\n0\n0",
		Evaluator: distances{}})
}

// distances is an evaluator of the first few lines; 0 means all.
type distances struct{ first int }

func (d distances) Evaluate(_ context.Context, program string) (eval.Result, error) {
	lines := strings.Split(strings.TrimSpace(program), "\n")
	if len(lines) != len(goals) {
		return eval.Invalid("%d lines, need %d", len(lines), len(goals)), nil
	}
	r := eval.Result{Valid: true}
	for i, line := range lines {
		if d.first > 0 && i >= d.first {
			break
		}
		v, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return eval.Invalid("line %d is not a number: %.20q", i+1, line), nil
		}
		r.Cases = append(r.Cases, -math.Abs(v-goals[i]))
		r.Score -= math.Abs(v - goals[i])
	}
	return r, nil
}

func (d distances) String() string { return fmt.Sprintf("distances(%d)", d.first) }

// editor is a model that changes a line of the first program by a step, takes over a line of another one that is
// shown, or does something useless. It writes notes and verdicts if it is asked to.
var editor = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	r := rand.New(rand.NewPCG(uint64(req.Seed), 7))
	text := req.Messages[len(req.Messages)-1].Content
	switch {
	case strings.Contains(text, "VERDICT"):
		return ok([]string{"VERDICT: NEW", "They differ.\nVERDICT: SAME", "I cannot say."}[r.IntN(3)]), nil
	case strings.Contains(text, "Note what is new"):
		return ok(fmt.Sprintf("So:\n- line %d matters\n- steps of %d\n", r.IntN(6), r.IntN(9))), nil
	}
	var programs [][]string
	for b := range fence.Blocks(text) {
		programs = append(programs, strings.Split(strings.TrimSpace(b.Text()), "\n"))
	}
	lines := programs[0]
	at := r.IntN(len(lines))
	switch u := r.Float64(); {
	case u < 0.05:
		return ok("No."), nil
	case u < 0.08:
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Timeout}}},
			&llm.Error{Status: llm.Timeout, Err: context.DeadlineExceeded}
	case u < 0.16:
		lines[at] = "broken"
	case u < 0.2:
		lines[at] += " "
	case u < 0.5 && len(programs) > 1:
		if other := programs[len(programs)-1]; at < len(other) {
			lines[at] = other[at]
		}
	default:
		lines[at] = strconv.Itoa(r.IntN(19) - 9)
	}
	return ok("```text\n" + strings.Join(lines, "\n") + "\n```"), nil
})

// late is editor with latencies that depend on the seed and on shuffle.
func late(shuffle uint64) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(time.Duration(rand.New(rand.NewPCG(shuffle, uint64(req.Seed))).IntN(1000)) * time.Millisecond)
		return editor(ctx, req)
	})
}

// mixed is a search with a part of nearly every kind.
func mixed(l llm.LLM, seed uint32, window int, order evolve.Order) (*population.Population, error) {
	tk, err := slots()
	if err != nil {
		return nil, err
	}
	return population.New(population.Config{Task: lined{tk}, LLM: l, N: 40, Seed: seed, Window: window, Order: order,
		Archive: &population.Islands{Of: []population.Archive{
			population.Top(12), population.All(), population.Drift()}},
		Islands: &bandit.UCB1{},
		Select:  population.Weighted(10),
		Operators: []population.Operator{population.Rewrite{}, population.Explore{}, population.Cross{Partners: 2},
			population.Repair{}, &population.Merge{},
			population.Rewrite{Label: "constants",
				Instruction: "Change only the values of numeric constants of the program to raise its score."},
			population.Rewrite{Label: "one line",
				Instruction: "Change exactly one statement of the program to raise its score."}},
		Gates: []population.Gate{&population.Unlike{Most: 0.95, Shingle: 1}, judge{l},
			fourth{population.Screen{On: func(v *population.View) eval.Evaluator { return distances{1 + v.Step%3} }}}},
		Memory: []population.Memory{&population.Scratchpad{Every: 10}, &population.Attempts{Most: 2}},
	})
}

// judge is a gate that asks a model about every third child.
type judge struct{ llm.LLM }

func (j judge) Admit(ctx context.Context, v *population.View, program string) (why string, err error) {
	if v.Birth%3 > 0 {
		return "", nil
	}
	reply, err := v.Ask(ctx, "judge", j.LLM, []llm.Message{{Role: llm.User, Content: "VERDICT: NEW or SAME?\n" + program}})
	if _, refused := evolve.Refused(err); refused || ctx.Err() != nil {
		return "", err
	}
	if strings.Contains(reply.Text, "SAME") {
		why = "it is judged the same"
	}
	return why, nil
}

func (judge) String() string { return "judge" }

// fourth screens every fourth child.
type fourth struct{ population.Screen }

func (f fourth) Admit(ctx context.Context, v *population.View, program string) (why string, err error) {
	if v.Birth%4 > 0 {
		return "", nil
	}
	return f.Screen.Admit(ctx, v, program)
}

func mustMixed(t testing.TB, l llm.LLM, window int, order evolve.Order) *population.Population {
	t.Helper()
	p, err := mixed(l, 40, window, order)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
