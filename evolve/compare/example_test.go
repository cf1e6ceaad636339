package compare_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A search of one's own against the baselines, on a family where it should win and on one where it may not.
func Example() {
	random := compare.Of("random", func(compare.Setting) population.Config {
		return population.Config{Archive: population.Top(10), Select: population.Uniform{}}
	})
	var runs []compare.Run
	err := compare.Study(context.Background(), compare.Config{
		Families: []compare.Family{compare.Additive(), compare.Few()},
		Searches: append(compare.Baselines()[:1], random),
		Calls:    128, Runs: 12,
	}, func(r compare.Run) { runs = append(runs, r) })
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := compare.NewTable(runs)
	if err != nil {
		fmt.Println(err)
		return
	}
	table.Order([]string{"additive", "few"}, nil)
	differences, err := table.Against("random", "greedy")
	for _, d := range differences {
		fmt.Printf("%s: above greedy: %v, significant: %v\n", d.Family, d.Value > 0, d.P < 0.05)
	}
	fmt.Println(err)
	// Output:
	// additive: above greedy: false, significant: true
	// few: above greedy: true, significant: true
	// <nil>
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
	long := compare.Family{Name: "long", Make: func(seed uint64) (compare.Problem, error) {
		score := func(program string) float64 { return float64(strings.Count(program, "birch")) / 8 }
		t, err := task.New(task.Spec{Name: "long", Initial: "amber amber\namber amber", Evaluator: eval.Func(
			func(_ context.Context, program string) (eval.Result, error) {
				return eval.Result{Score: score(program), Valid: true}, nil
			})})
		return compare.Problem{Task: t, LLM: compare.Model{Words: 2}, True: score}, err
	}}
	err := compare.Study(context.Background(), compare.Config{
		Families: []compare.Family{long}, Searches: compare.Baselines()[:1], Calls: 64, Runs: 1,
	}, func(r compare.Run) { fmt.Println(r.Search, r.Calls, r.Score) })
	fmt.Println(err)
	// Output:
	// greedy 64 0.5
	// <nil>
}

// What a model answers depends on the prompt's text and the seed alone. This one knows two words, so what it can do
// with a program of one is to write the other.
func ExampleModel() {
	reply, err := compare.Model{Words: 2}.Generate(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "Raise the score of this program:\n\n```\namber\n```"}}, Seed: 3,
	})
	fmt.Print(reply.Text)
	fmt.Println(reply.Attempts[0].Usage.PromptTokens, reply.Attempts[0].Usage.CompletionTokens, err)
	// Output:
	// Here is the program.
	//
	// ```
	// birch
	// ```
	// 12 9 <nil>
}

// Unlike searches as the arms of one run.
func ExamplePortfolio() {
	searches := []compare.Search{
		compare.Portfolio("races", compare.Halving, 1, compare.Softmax(), compare.PowerLaw("archive", population.Cross{})),
		compare.Relay("hands on", compare.Even, compare.Softmax(), compare.Greedy("alone", evolve.GreedyConfig{N: 1})),
	}
	err := compare.Study(context.Background(), compare.Config{
		Families: []compare.Family{compare.Traps()}, Searches: searches, Calls: 100, Runs: 1, Parallel: 1,
	}, func(r compare.Run) { fmt.Println(r.Search, r.Calls) })
	fmt.Println(err)
	// Output:
	// races 100
	// hands on 100
	// <nil>
}

func ExampleSearches() {
	for _, group := range [][]compare.Search{compare.Baselines(), compare.Populations(), compare.Placebos(), compare.Portfolios()} {
		fmt.Println(group)
	}
	// Output:
	// [greedy greedy>= greedy-1 best-of-n ei-10 halving-10 halves softmax]
	// [history power-law weighted cells fronts shown scratchpad rescore]
	// [self-cross shuffled copies]
	// [portfolio-ei relay-softmax]
}

// table returns runs with made-up scores: a is the best on steep, b on rough.
func table() *compare.Table {
	var runs []compare.Run
	for seed := range uint64(8) {
		luck := 0.01 * float64(seed%4)
		for search, scores := range map[string][2]float64{"a": {0.9, 0.2}, "b": {0.3, 0.6}, "both": {0.8, 0.6}} {
			for i, family := range []string{"steep", "rough"} {
				points := []compare.Point{{Calls: 0}, {Calls: 10 * (i + 1), Score: scores[i] + luck}}
				runs = append(runs, compare.Run{Family: family, Search: search, Seed: seed, Score: scores[i] + luck, Points: points})
			}
		}
	}
	t, err := compare.NewTable(runs)
	if err != nil {
		panic(err)
	}
	t.Order([]string{"steep", "rough"}, []string{"a", "b", "both"})
	return t
}

func ExampleTable_Against() {
	differences, err := table().Against("both", "a")
	for _, d := range differences {
		fmt.Printf("%s: %v, p = %.2f\n", d.Family, d.Interval, d.P)
	}
	fmt.Println(err)
	// Output:
	// steep: -0.1 [-0.1, -0.1], p = 0.02
	// rough: 0.4 [0.4, 0.4], p = 0.02
	// <nil>
}

func ExampleTable_Hindsight() {
	t := table()
	for _, s := range t.Searches {
		l, err := t.Hindsight(s, []string{"a", "b"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-4s  loses %.2f on steep, %.2f on rough, %.2f in the mean; within 5 %% in %d of 2\n", s, l.Of[0].Value, l.Of[1].Value, l.Mean.Value, l.Within(0.05))
	}
	// Output:
	// a     loses 0.00 on steep, 1.00 on rough, 0.50 in the mean; within 5 % in 1 of 2
	// b     loses 1.00 on steep, 0.00 on rough, 0.50 in the mean; within 5 % in 1 of 2
	// both  loses 0.17 on steep, 0.00 on rough, 0.08 in the mean; within 5 % in 1 of 2
}

func ExampleTable_Reach() {
	t := table()
	goal := t.ReliableScore("steep", "both")
	for _, s := range t.Searches {
		calls, ok := t.Reach("steep", s, goal)
		fmt.Printf("%-4s  %.2f after %d calls: %v\n", s, goal, calls, ok)
	}
	// Output:
	// a     0.80 after 10 calls: true
	// b     0.80 after 0 calls: false
	// both  0.80 after 10 calls: true
}
