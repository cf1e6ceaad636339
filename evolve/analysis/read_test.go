package analysis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"

	"github.com/evoalloc/evoalloc/evolve/report"
	resultfile "github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A greedy result in the form of the paper's code. Of eight children two were not answered.
const paperGreedy = `{"task": "cp", "model": "qwen3-8b", "model_name": "Qwen/Qwen3-8B", "C": 8, "T": 2, "N": 4, "seed": 41, "final_fitness": 0.5,
 "trajectory": [{"generation": 0, "best_fitness": 0.25, "n_children": 0, "n_valid": 1, "children": []},
  {"generation": 1, "best_fitness": 0.2, "parent_fitness": 0.25, "n_children": 4, "children": [
   {"idx": 0, "fitness": 0.1, "final_status": "ok"}, {"idx": 1, "fitness": null, "final_status": "timeout"},
   {"idx": 2, "fitness": null, "final_status": "ok"}, {"idx": 3, "fitness": null, "final_status": "error:HTTPError"}]},
  {"generation": 2, "best_fitness": 0.5, "parent_fitness": 0.25, "n_children": 4, "children": [
   {"idx": 0, "fitness": 0.1, "final_status": "ok"}, {"idx": 1, "fitness": 0.5, "final_status": "ok"},
   {"idx": 2, "fitness": 0, "final_status": "ok"}, {"idx": 3, "fitness": 0, "final_status": "ok"}]}]}`

// A bandit's result in the form of the paper's code.
const paperBandit = `{"task": "cp", "model": "qwen3-8b", "algo": "ucb", "C": 6, "T_total": 3, "N": 2, "n_arms": 2, "arm_seeds": [40, 41], "bandit_seed": 5,
 "selections": [0, 1, 1], "rewards": [0.3, 0.2, 0.6], "running_best": [0.3, 0.3, 0.6],
 "arm_results": [{"seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0.2}, {"generation": 1, "best_fitness": 0.3, "n_children": 2}]},
  {"seed": 41, "trajectory": [{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.2, "n_children": 1}, {"generation": 2, "best_fitness": 0.6}]}]}`

func TestReadThePapersFiles(t *testing.T) {
	g, err := Read(strings.NewReader(paperGreedy))
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != "cp/qwen3-8b/greedy T=2 N=4 seed 41" || !slices.Equal(g.Best, []float64{0.25, 0.25, 0.5}) ||
		!slices.Equal(g.Answered, []int{0, 2, 4}) || g.Early() {
		t.Errorf("%+v", g)
	}
	b, err := Read(strings.NewReader(paperBandit))
	if err != nil {
		t.Fatal(err)
	}
	if b.Method != "ucb K=2" || b.T != 3 || b.N != 2 || b.Seed != 5 ||
		!slices.Equal(b.Best, []float64{0.2, 0.3, 0.3, 0.6}) || !slices.Equal(b.Answered, []int{0, 2, 1, 2}) {
		t.Errorf("%+v", b)
	}
}

func TestReadWithoutStatuses(t *testing.T) {
	r, err := Read(strings.NewReader(`{"T": 1, "N": 2, "trajectory": [{"best_fitness": 0}, {"generation": 1, "best_fitness": 1, "children": [{"fitness": 1}, {"fitness": null}]}]}`))
	if err != nil || !slices.Equal(r.Answered, []int{0, 1}) {
		t.Errorf("%+v, %v: a child with a program was answered", r, err)
	}
}

func TestReadRefuses(t *testing.T) {
	row := func(s string) string { return `{"T": 1, "N": 1, "trajectory": [` + s + `]}` }
	arms := func(s string) string { return `{"T_total": 1, "N": 1, "bandit_seed": 1, ` + s + `}` }
	const arm = `"arm_results": [{"trajectory": [{"best_fitness": 0}]}]`
	for _, c := range []struct{ reason, file, want string }{
		{"nothing in it", "", "empty"},
		{"no JSON", "generation,seed", "not a result"},
		{"no plan", `{"trajectory": [{"best_fitness": 1}]}`, "need T and N"},
		{"no rows", row(""), "no score to start from"},
		{"rows out of order", row(`{"generation": 1, "best_fitness": 1}`), "generation 1 in row 0"},
		{"a row without a score", row(`{"generation": 0}`), "no best_fitness"},
		{"a seed of draws that is no number", `{"bandit_seed": 5.5, "arm_results": []}`, "bandit_seed"},
		{"rounds without a best", arms(`"selections": [0], ` + arm), "1 selections and a running_best of 0"},
		{"no such arm", arms(`"selections": [1], "running_best": [1], ` + arm), "round 0 pulls arm 1 of 1"},
		{"an arm without a start", arms(`"arm_results": [{"trajectory": []}]`), "arm 0 has no score"},
		{"no arms", arms(`"arm_results": []`), "no score to start from"},
	} {
		if _, err := Read(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "analysis: ") {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	path := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "empty.json") {
		t.Errorf("an empty file: %v", err)
	}
}

// letters is a task whose programs are scored by their length, with a model that adds a letter, or fails.
func letters(t *testing.T) evolve.GreedyConfig {
	t.Helper()
	tk, err := task.New(task.Spec{
		Name: "letters", System: "Write more.", Initial: "a",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(strings.TrimSpace(program))) / 100}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if req.Seed%3 == 0 {
			return llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindBadRequest, Err: errors.New("bad")}
		}
		program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "")
		return llm.Reply{Text: "```\n" + strings.TrimSpace(program) + "b\n```"}, err
	})
	return evolve.GreedyConfig{Task: tk, LLM: model, N: 4, Seed: 40}
}

// What evolve/report writes is read as the result has it.
func TestReadOwnFiles(t *testing.T) {
	g, err := evolve.NewGreedy(letters(t))
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 16}})
	if err != nil {
		t.Fatal(err)
	}
	header := report.Header{Task: "letters", Model: llm.Model{Key: "tiny", Name: "tiny"}, T: 4, N: 4}
	path := filepath.Join(t.TempDir(), "greedy.json")
	if err := resultfile.Save(path, report.NewGreedy(result, header, 40)); err != nil {
		t.Fatal(err)
	}
	r, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.AnsweredBy(r.Generations()) != result.Calls || result.Calls != 16 || r.Generations() < 5 {
		t.Errorf("%d answered calls in %d generations, the result has %d", r.AnsweredBy(r.Generations()), r.Generations(),
			result.Calls)
	}
	if r.Final() != result.Best.Result.Score || r.Early() || r.From != path || r.Stop != "budget" || r.Seed != 40 {
		t.Errorf("%+v", r)
	}
}

func TestReadOwnBandit(t *testing.T) {
	arms, err := evolve.GreedyArms(letters(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 16}})
	if err != nil {
		t.Fatal(err)
	}
	header := report.BanditHeader{
		Header: report.Header{Task: "letters", Model: llm.Model{Key: "tiny", Name: "tiny"}, T: 4, N: 4},
		Algo:   "ucb", ArmSeeds: []uint32{40, 41},
	}
	path := filepath.Join(t.TempDir(), "bandit.json")
	if err := resultfile.Save(path, report.NewBandit(result, header)); err != nil {
		t.Fatal(err)
	}
	r, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != "ucb K=2" || r.AnsweredBy(r.Generations()) != 16 || r.Final() != result.Best.Result.Score || r.Early() {
		t.Errorf("%+v", r)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(paperGreedy)
	f.Add(paperBandit)
	f.Add(`{"T": 1, "N": 1, "bandit_seed": 1e3, "selections": [0, -1], "running_best": [1, 2], "arm_results": [{}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		if r.AnsweredBy(r.Generations()) < 0 || r.Final() < r.Best[0] {
			t.Errorf("%+v", r)
		}
	})
}

// What is not greedy search is told apart from it by its method, and so is a bandit over such searches.
func TestReadNamesSearches(t *testing.T) {
	row := `{"generation": 0, "best_fitness": 1}`
	for _, c := range []struct{ file, want string }{
		{`"trajectory": [` + row + `]`, "greedy"},
		{`"search": "gepa", "trajectory": [` + row + `]`, "gepa"},
		{`"search": "gepa", "breadth": "Fixed(3)", "trajectory": [` + row + `]`, "gepa Fixed(3)"},
		{`"algo": "ucb", "T_total": 1, "bandit_seed": 1, "arm_results": [{"trajectory": [` + row + `]}]`, "ucb K=1"},
		{`"algo": "ucb", "T_total": 1, "bandit_seed": 1, "breadth": "Fixed(3)", "arm_searches": ["greedy", "gepa", "greedy"], "arm_results": [{"trajectory": [` +
			row + `]}, {"trajectory": [` + row + `]}, {"trajectory": [` + row + `]}]`, "ucb K=3 Fixed(3) of gepa, greedy"},
	} {
		r, err := Read(strings.NewReader(`{"task": "cp", "model": "m", "T": 1, "N": 1, ` + c.file + `}`))
		if err != nil || r.Method != c.want {
			t.Errorf("%s: method %q, want %q; %v", c.file, r.Method, c.want, err)
		}
	}
}
