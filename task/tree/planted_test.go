package tree_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/tree"
)

// pairs is how seldom the model repairs two files at once: one reply in so many.
const pairs = 16

// A repairer is a model that knows a right and a wrong repair of each file. It repairs one file, of which half are right, or
// seldom two. Of two programs it takes over what the second one has made of files.
type repairer struct {
	files        []string
	right, wrong map[string]string
}

func (m repairer) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	random := rand.New(rand.NewPCG(uint64(req.Seed), 7))
	own, partner, _ := strings.Cut(req.Messages[len(req.Messages)-1].Content, "Program 2 of ")
	reply := llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}
	for _, file := range m.files {
		for _, text := range []string{m.right[file], m.wrong[file]} {
			if shown := strings.TrimSpace(text); strings.Contains(partner, shown) && !strings.Contains(own, shown) {
				reply.Text += whole(file, text)
			}
		}
	}
	if reply.Text != "" {
		return reply, nil
	}
	n := 1
	if random.IntN(pairs) == 0 {
		n = 2
	}
	for _, i := range random.Perm(len(m.files))[:n] {
		text := m.right[m.files[i]]
		if random.IntN(2) == 0 {
			text = m.wrong[m.files[i]]
		}
		reply.Text += whole(m.files[i], text)
	}
	return reply, nil
}

func whole(file, text string) string { return "### " + file + "\n```go\n" + text + "```\n" }

// A remembered evaluator scores equal programs once, also for several searches.
type remembered struct {
	eval.Evaluator
	mu    sync.Mutex
	known map[string]eval.Result
}

func (r *remembered) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.known[program]; ok {
		return known, nil
	}
	result, err := r.Evaluator.Evaluate(ctx, program)
	if err == nil {
		r.known[program] = result
	}
	return result, err
}

// points is the sum of what a program of checks prints.
func points(out json.RawMessage) eval.Result {
	var list []float64
	if err := json.Unmarshal(out, &list); err != nil {
		return eval.Invalid("no array of points: %.60s", out)
	}
	sum := 0.0
	for _, p := range list {
		sum += p
	}
	return eval.Result{Valid: true, Score: sum}
}

// planted returns the task of a fault, and the model that knows repairs.
func planted(t *testing.T, f fault) (*tree.Task, llm.LLM) {
	t.Helper()
	dir, right, wrong := f.base(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skip(err)
	}
	at := strings.TrimSpace(string(cache))
	runner, err := command.NewRunner(command.Config{
		Base: dir, Build: []string{"go", "build", "-tags", "noasm", "-o", "checks", "./check"},
		Run: []string{"{build}/checks"}, Caches: []string{at},
		Env: []string{"GOCACHE=" + at, "GOPROXY=off", "GOFLAGS=-buildvcs=false -trimpath", "CGO_ENABLED=0",
			"GOTOOLCHAIN=local"},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := repairer{right: right, wrong: wrong}
	for _, s := range f.spots {
		m.files = append(m.files, s.file)
	}
	of, err := tree.New(tree.Config{Base: dir, Name: "planted", Open: m.files, About: "Repair the module.",
		Evaluator: &remembered{Evaluator: eval.Scored(runner, "", points), known: map[string]eval.Result{}}})
	if err != nil {
		t.Fatal(err)
	}
	return of, m
}

// searches are played against each other, each with the same model and calls.
var searches = map[string]func(of *tree.Task, model llm.LLM, seed uint32) (evolve.Arm, error){
	"greedy": func(of *tree.Task, model llm.LLM, seed uint32) (evolve.Arm, error) {
		return evolve.NewGreedy(evolve.GreedyConfig{Task: of, LLM: model, N: 4, Seed: seed})
	},
	"crossing": func(of *tree.Task, model llm.LLM, seed uint32) (evolve.Arm, error) {
		return crossing(of, model, seed, false)
	},
	"placebo": func(of *tree.Task, model llm.LLM, seed uint32) (evolve.Arm, error) {
		return crossing(of, model, seed, true)
	},
}

// crossing is a population half of whose children are crosses, or in the placebo crosses of a program with itself.
func crossing(of *tree.Task, model llm.LLM, seed uint32, self bool) (evolve.Arm, error) {
	return population.New(population.Config{Task: of, LLM: model, N: 4, Seed: seed, Archive: population.Top(20),
		Select:    population.Uniform(),
		Operators: []population.Operator{population.Rewrite{}, population.Cross{Self: self}}})
}

// play returns after how many calls a search repaired a fault, or 0 if it did not.
func play(t *testing.T, f fault, of *tree.Task, model llm.LLM, search string, seed uint32, calls int) int {
	t.Helper()
	arm, err := searches[search](of, model, seed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm},
		Budget: evolve.Budget{Calls: calls, Target: &f.whole}})
	if err != nil {
		t.Fatalf("%s: %s: %v", f.name, search, err)
	}
	if r.Best.Result.Score < f.whole {
		return 0
	}
	files, deleted, err := of.Changes(r.Best.Program)
	if err != nil || len(files) != len(f.spots) || len(deleted) > 0 {
		t.Errorf("%s: %s: the repair changes %d files and deletes %v, %v", f.name, search, len(files), deleted, err)
	}
	return r.Calls
}

var plantedRuns = flag.Int("runs", 0, "how many runs TestPlantedFaults makes of each search and fault; 0 means few")

// Faults that stand in several files of real modules are repaired, also those of which a repair of one file alone is worse
// than none. With -v the test prints how often, and after how many calls.
func TestPlantedFaults(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on the PATH")
	}
	const calls = 64
	seeds := cmp.Or(*plantedRuns, notrun.Length(2, 6))
	for _, f := range notrun.Few(faults, 1) {
		t.Run(f.name, func(t *testing.T) {
			of, model := planted(t, f)
			before, err := of.Evaluate(t.Context(), of.Initial())
			if err != nil || !before.Valid || before.Score >= f.whole {
				t.Fatalf("the planted module scores %+v, %v: want it valid and below %v", before, err, f.whole)
			}
			row := fmt.Sprintf("| %s | %s | %d | %s | %g of %g |", f.name, f.module, len(f.spots), f.kind, before.Score, f.whole)
			solved := map[string]int{}
			for _, search := range notrun.Few([]string{"greedy", "crossing", "placebo"}, 1) {
				var after []int
				for seed := range seeds {
					if n := play(t, f, of, model, search, uint32(7000+seed), calls); n > 0 {
						after = append(after, n)
					}
				}
				slices.Sort(after)
				solved[search] = len(after)
				row += fmt.Sprintf(" %d", len(after))
				if len(after) > seeds/2 { // so that the median of all runs is one of these
					row += fmt.Sprintf(" (%d)", after[seeds/2])
				}
				row += " |"
			}
			t.Log(row)
			if solved["crossing"] == 0 {
				t.Errorf("no crossing population of %d repaired it in %d calls", seeds, calls)
			}
		})
	}
}
