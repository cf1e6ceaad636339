package tuning

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/tasks"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
	"github.com/evoalloc/evoalloc/task/packing"
)

// A kind is a task whose first program has the right structure and wrong numbers.
type kind struct {
	name string
	make func() (task.Task, llm.LLM, error)
	find func(program string) []tune.Number // nil: as the language has them
}

var kinds = []kind{
	{"rings", func() (task.Task, llm.LLM, error) { return inGeometry("cp", "") }, nil},
	{"points", func() (task.Task, llm.LLM, error) { return inGeometry("mmd", "") }, nil},
	{"bumps", func() (task.Task, llm.LLM, error) { return inTasks("fit") }, inList},
	{"triangle", func() (task.Task, llm.LLM, error) { return inGeometry("ht", "") }, nil},
	{"coordinates", func() (task.Task, llm.LLM, error) { return inGeometry("cp", lattice()) }, nil},
	{"bins", bins, nil},
	{"sine", sine, nil},
}

// Tasks returns the names of the tasks.
func Tasks() (list []string) {
	for _, k := range kinds {
		list = append(list, k.name)
	}
	return list
}

func named(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, cli.Usagef("--tasks: no task %q: need some of %s", name, strings.Join(Tasks(), ", "))
}

// standIn returns the task with another first program, if there is one, and the stand-in for a model. That changes
// numbers of a program at random over several scales, which is what the search without a tuner improves by.
func standIn(t task.Task, initial string, err error) (task.Task, llm.LLM, error) {
	if err != nil {
		return nil, nil, err
	}
	if initial != "" {
		t = begun{t, initial}
	}
	model, err := offline.New(offline.Config{})
	return t, model, err
}

// begun is a task with another first program.
type begun struct {
	task.Task
	initial string
}

func (b begun) Initial() string   { return b.initial }
func (b begun) Unwrap() task.Task { return b.Task }

func inGeometry(key, initial string) (task.Task, llm.LLM, error) {
	runner, err := js.New(js.Config{})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range geometry.Problems() {
		if p.Key == key {
			t, err := p.Task(runner, "javascript")
			return standIn(t, initial, err)
		}
	}
	return nil, nil, fmt.Errorf("no geometry problem %q", key)
}

func inTasks(key string) (task.Task, llm.LLM, error) {
	for _, k := range tasks.All() {
		if k.Key == key {
			return k.Make()
		}
	}
	return nil, nil, fmt.Errorf("no task %q", key)
}

// bins packs items into bins by a rule that avoids gaps that nothing fits into, with numbers that somebody has guessed.
func bins() (task.Task, llm.LLM, error) {
	runner, err := js.New(js.Config{})
	if err != nil {
		return nil, nil, err
	}
	t, err := packing.Weibull().Task(runner, "javascript")
	return standIn(t, `// A gap that nothing fits into is wasted, so bins that would be left with one come last.
function priority(item, room) {
  const left = room - item;
  if (left > 3 && left < 50) {
    return -200 - 0.5 * left;
  }
  return -1.5 * left - 0.3 * item;
}
`, err)
}

// sine fits a polynomial to sin x, from the first terms of the Taylor series.
func sine() (task.Task, llm.LLM, error) {
	runner, err := js.New(js.Config{})
	if err != nil {
		return nil, nil, err
	}
	score := func(out json.RawMessage) eval.Result {
		var c []float64
		if err := json.Unmarshal(out, &c); err != nil || len(c) != 3 {
			return eval.Invalid("not an array of 3 numbers: %.60s", out)
		}
		worst := 0.0
		for i := range 1001 {
			x := math.Pi * float64(i) / 1000
			worst = max(worst, math.Abs(x*(c[0]+x*x*(c[1]+x*x*c[2]))-math.Sin(x)))
		}
		return eval.Result{Valid: true, Score: 1 / (1 + worst)}
	}
	t, err := task.New(task.Spec{Name: "sine", Language: "javascript",
		System:  "Fit a polynomial to sin x for x from 0 to π.",
		Initial: "function solve() {\n  return [1.0, -0.1666, 0.0083];\n}\n", Evaluator: eval.Scored(runner, "solve", score)})
	return standIn(t, "", err)
}

// lattice returns a packing of 26 circles by their coordinates: rows of a hexagonal lattice, each moved a little.
func lattice() string {
	r := rand.New(rand.NewPCG(26, 0))
	var b strings.Builder
	b.WriteString("// Packs 26 circles into the unit square, by their centers.\nfunction pack() {\n  const centers = [\n")
	for row, n := range []int{5, 5, 6, 5, 5} {
		for i := range n {
			x, y := (float64(i)+0.5)/float64(n), (float64(row)+0.5)/5
			fmt.Fprintf(&b, "    [%.4f, %.4f],\n", inside(x+0.04*r.NormFloat64()), inside(y+0.04*r.NormFloat64()))
		}
	}
	b.WriteString(`  ];
  const radii = centers.map(([x, y]) => Math.min(x, y, 1 - x, 1 - y));
  for (let i = 0; i < centers.length; i++) {
    for (let j = i + 1; j < centers.length; j++) {
      const distance = Math.hypot(centers[i][0] - centers[j][0], centers[i][1] - centers[j][1]);
      if (radii[i] + radii[j] > distance) {
        const scale = distance / (radii[i] + radii[j]);
        radii[i] *= scale;
        radii[j] *= scale;
      }
    }
  }
  return { centers, radii };
}
`)
	return b.String()
}

func inside(x float64) float64 { return math.Min(math.Max(x, 0.02), 0.98) }

var inJSON = regexp.MustCompile(`-?[0-9][-+.0-9eE]*`)

// inList returns all numbers of a JSON list. They are real numbers, whole or not.
func inList(program string) (list []tune.Number) {
	for _, at := range inJSON.FindAllStringIndex(program, -1) {
		if v, err := strconv.ParseFloat(program[at[0]:at[1]], 64); err == nil {
			list = append(list, tune.Number{Begin: at[0], End: at[1], Value: v})
		}
	}
	return list
}
