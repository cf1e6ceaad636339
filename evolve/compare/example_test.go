package compare_test

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// A search of one's own against greedy search, at equal calls on some families: where it wins, and where it loses.
func Example() {
	uniform := compare.Population("uniform", func(compare.Setting) population.Config {
		return population.Config{Archive: population.Top(10), Select: population.Uniform()}
	})
	runs, err := compare.Study(context.Background(), compare.Config{
		Families: compare.Families()[4:8],
		Searches: []compare.Search{compare.Greedy("greedy", evolve.GreedyConfig{N: 1}), uniform},
		Calls:    64, Runs: 12,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := compare.Against(runs, "uniform", "greedy")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range c.Families {
		fmt.Printf("%-8s  %+.2f [%+.2f, %+.2f], p = %.3f\n", d.Family, d.Value, d.Low, d.High, d.P)
	}
	fmt.Printf("%s is better: the difference is %v, of %d pairs\n", c.Winner(), c.Difference, c.Runs)
	// Output:
	// geometry  -0.08 [-0.14, -0.03], p = 0.014
	// few       -0.01 [-0.10, +0.04], p = 1.000
	// regress   -0.18 [-0.25, -0.15], p = 0.002
	// noisy     -0.00 [-0.10, +0.07], p = 1.000
	// greedy is better: the difference is -0.07006 [-0.1006, -0.0427], of 48 pairs
}

func ExampleFamilies() {
	for _, f := range compare.Families() {
		p, err := f.Make(1)
		if err != nil {
			fmt.Println(err)
			return
		}
		first, _, _ := strings.Cut(p.Task.Initial(), "\n")
		fmt.Printf("%-8s  %s\n", f, first)
	}
	// Output:
	// additive  ember delta birch cedar
	// traps     birch amber amber amber amber
	// hiff      amber amber amber amber
	// tuned     delta 0.5000 0.5000 0.5000
	// geometry  0.9372 0.3531
	// few       0.9529 0.7284
	// regress   delta delta birch delta
	// noisy     ember fjord fjord cedar
	// held-out  cedar amber cedar delta
	// layered   amber delta amber cedar cedar birch
	// notes     p:cedar q:grove r:birch r:birch
}

// A family of one's own: a task, a model, and the score that counts.
func ExampleFamily() {
	near := compare.Family{Name: "near", Make: func(seed uint64) (compare.Problem, error) {
		score := func(program string) float64 {
			var x float64
			fmt.Sscanf(program, "x = %g", &x)
			return -math.Abs(x - float64(seed+2))
		}
		t, err := task.New(task.Spec{Name: "near", Initial: "x = 1.0\n", Evaluator: eval.Func(
			func(_ context.Context, program string) (eval.Result, error) {
				return eval.Result{Score: score(program), Valid: true}, nil
			})})
		if err != nil {
			return compare.Problem{}, err
		}
		model, err := offline.New(offline.Config{})
		return compare.Problem{Task: t, LLM: model, True: score}, err
	}}
	runs, err := compare.Study(context.Background(), compare.Config{
		Families: []compare.Family{near}, Searches: []compare.Search{compare.Greedy("greedy", evolve.GreedyConfig{N: 4})},
		Calls: 64, Runs: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s ends %.1f off after %d calls\n", runs[0].Search, -runs[0].Score, runs[0].Calls)
	// Output:
	// greedy ends 0.0 off after 64 calls
}
