package layering

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/task"
)

const system = `Improve a rule that says in which order jobs are begun. The JavaScript function priority is asked about each job; the
highest goes first. a is the job's time in the first stage and b in the second, w its weight, d its due date. The others
are of the shop: machines, stages, and late, the share of lateness in the cost. On several machines or in two stages the cost
is when all is done, on one it is weighted lateness and completion. The score is the mean over shops of all kinds.`

const signature = `function priority(a, b, w, d, machines, stages, late) {`

// plain is what searches start from: jobs are begun as they come.
const plain = signature + `
  return 0;
}
`

// told is plain for a search that is told of the kinds of shops.
const told = signature + `
  if (stages > 1.5) return 0;
  if (machines > 1.5) return 0;
  if (late > 0.5) return 0;
  return 0;
}
`

// A RulesTask is the task of finding a rule.
type RulesTask struct {
	task.Task
	test eval.Evaluator
}

func (t RulesTask) Unwrap() task.Task { return t.Task }

// HeldOut scores a rule on shops that no search sees.
func (t RulesTask) HeldOut(ctx context.Context, program string) (eval.Result, error) {
	return t.test.Evaluate(ctx, program)
}

// How many shops of each kind there are, and where their seeds begin.
const (
	trained, tested     = 4, 8
	trainSeed, testSeed = 0, 1000
)

func newRules(r eval.Runner, initial string) (RulesTask, error) {
	test := ruleEvaluator(r, newShops(testSeed, tested))
	t, err := task.New(task.Spec{Name: "shop", Language: "javascript", System: system, Initial: initial,
		Evaluator: ruleEvaluator(r, newShops(trainSeed, trained))})
	return RulesTask{t, test}, err
}

// ruleEvaluator runs rules on shops. They return priorities, and what these cost is computed here.
func ruleEvaluator(r eval.Runner, on []shop) eval.Evaluator {
	shops, err := json.Marshal(on)
	if err != nil {
		panic(err) // numbers are data
	}
	driver := fmt.Sprintf(`
;function asked() {
  return %s.map((s) => s.jobs.map(([a, b, w, d]) => {
    const p = priority(a, b, w, d, s.machines, s.stages, s.late);
    if (typeof p !== 'number' || p !== p) throw new TypeError('priority is not a number');
    return p > 1e300 ? 1e300 : p < -1e300 ? -1e300 : p;
  }));
}`, shops)
	return eval.Scored(driven{r, driver}, "asked", func(out json.RawMessage) eval.Result {
		var all [][]float64
		if json.Unmarshal(out, &all) != nil || len(all) != len(on) {
			return eval.Invalid("no priorities of %d shops", len(on))
		}
		var cases []float64
		for i, s := range on {
			if len(all[i]) != len(s.Jobs) {
				return eval.Invalid("%d priorities in shop %d: need %d", len(all[i]), i, len(s.Jobs))
			}
			cases = append(cases, s.score(all[i]))
		}
		return result(cases)
	})
}

func result(cases []float64) eval.Result {
	r := eval.Result{Valid: true, Cases: cases}
	for _, s := range cases {
		r.Score += s / float64(len(cases))
	}
	return r
}

// driven runs programs with a driver behind them.
type driven struct {
	eval.Runner
	driver string
}

func (d driven) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	return d.Runner.Run(ctx, program+d.driver, entry)
}

// features is what a router weighs: a constant, and what is known of a shop.
func (s shop) features() [4]float64 { return [4]float64{1, s.Machines, s.Stages, s.Late} }

// NewRouter is stage two's task: a function weights returns four numbers for each base, and a shop is run by the base
// whose weighted features are the highest. The program is never where a base is: it returns numbers, and what the bases
// score is what stage one found. The first router is what a regression of these scores says.
func NewRouter(r eval.Runner, pool []eval.Candidate) (task.Task, error) {
	on := newShops(trainSeed, trained)
	initial, err := firstRouter(on, pool)
	if err != nil {
		return nil, err
	}
	e := eval.Scored(routed{r, layers.Digest(pool)}, "weights", func(out json.RawMessage) eval.Result {
		var weights [][4]float64
		if json.Unmarshal(out, &weights) != nil || len(weights) != len(pool) {
			return eval.Invalid("want a list of %d lists of 4 numbers", len(pool))
		}
		var cases []float64
		for i, s := range on {
			cases = append(cases, pool[chosen(weights, s.features())].Result.Cases[i])
		}
		return result(cases)
	})
	return task.New(task.Spec{Name: "router", Language: "javascript", System: routerSystem(on, pool), Evaluator: e,
		Initial: initial})
}

// firstRouter weighs features as they best foretell what each base scores.
func firstRouter(on []shop, pool []eval.Candidate) (string, error) {
	var features [][]float64
	for _, s := range on {
		f := s.features()
		features = append(features, f[:])
	}
	weights, err := layers.Regress(pool, features)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("function weights() {\n  return [\n")
	for _, w := range weights {
		fmt.Fprintf(&b, "    [%.3f, %.3f, %.3f, %.3f],\n", w[0], w[1], w[2], w[3])
	}
	b.WriteString("  ];\n}\n")
	return b.String(), nil
}

// chosen is the base with the highest sum of weighted features, of equals the first.
func chosen(weights [][4]float64, features [4]float64) (at int) {
	most := math.Inf(-1)
	for i, w := range weights {
		sum := 0.0
		for j, f := range features {
			sum += w[j] * f
		}
		if sum > most {
			at, most = i, sum
		}
	}
	return at
}

// routed prints the pool, by which a run knows the evaluator.
type routed struct {
	eval.Runner
	pool string
}

func (r routed) String() string { return fmt.Sprintf("routed(%v, %s)", r.Runner, r.pool) }

func routerSystem(on []shop, pool []eval.Candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"Improve a JavaScript function weights() that says which of %d rules a shop is run by. It returns four numbers for "+
			"each rule: those that 1, machines, stages and late are multiplied by. The rule with the highest sum is used. The "+
			"score is the "+
			"mean over shops, in which the rules score:\n", len(pool))
	for i, s := range on {
		fmt.Fprintf(&b, "machines %v, stages %v, late %.2f:", s.Machines, s.Stages, s.Late)
		for _, c := range pool {
			fmt.Fprintf(&b, " %.2f", c.Result.Cases[i])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Whole is the rule that a router makes of its pool, complete in itself.
func Whole(pool []eval.Candidate, router string) string {
	var b strings.Builder
	b.WriteString("const bases = [\n")
	for _, c := range pool {
		fmt.Fprintf(&b, "(() => {\n%s\nreturn priority;\n})(),\n", strings.TrimSpace(c.Program))
	}
	fmt.Fprintf(&b, "];\nconst table = (() => {\n%s\nreturn weights();\n})();\n", strings.TrimSpace(router))
	b.WriteString(signature + `
  const sums = table.map((w) => w[0] + w[1] * machines + w[2] * stages + w[3] * late);
  return bases[sums.indexOf(Math.max(...sums))](a, b, w, d, machines, stages, late);
}
`)
	return b.String()
}
