package ensemble_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/ensemble"
)

func Example() {
	small, large := answers("0.1", nil), answers("0.9", nil)
	model, err := ensemble.New(ensemble.Config{
		Members: []ensemble.Member{
			{Model: llm.Model{Key: "small", ActiveParams: 8e9}, LLM: small},
			{Model: llm.Model{Key: "large", ActiveParams: 70e9}, LLM: large},
		},
		Policy: bandit.WithFloor(&bandit.GaussianThompson{Sigma: 0.4}, 0.05),
		Seed:   7,
	})
	if err != nil {
		panic(err)
	}
	for child := range 200 { // what a search does
		reply, err := model.Generate(context.Background(), ask("improve", child))
		if err != nil {
			panic(err)
		}
		var score float64
		fmt.Sscan(reply.Text, &score)
		model.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: score, Parent: 0.5})
	}
	large200 := model.Report().Members[1]
	fmt.Println(model)
	fmt.Println("large has most of the calls:", large200.Calls > 150, "mean reward:", large200.MeanReward)
	// Output:
	// Ensemble(small=llm.Func, large=llm.Func, WithFloor(GaussianThompson(sigma=0.4, mean=0.5, strength=1), 0.05), seed 7)
	// large has most of the calls: true mean reward: 1
}

func ExampleMember() {
	m := ensemble.Member{Model: llm.Models()[0], LLM: answers("", nil)}
	fmt.Println(m.Model.Key, m.LLM)
	// Output: qwen3-8b llm.Func
}

func ExampleConfig() {
	// A reward that sets the price of a model against what it brings: an improvement by a small
	// model is worth more than one by a large.
	cfg := ensemble.Config{
		Members: []ensemble.Member{{Model: llm.Model{Key: "small", ActiveParams: 8e9}, LLM: answers("", nil)}},
		Policy:  &bandit.PaperEXP3P{},
		Reward: func(o llm.Outcome) (float64, bool) {
			reward, counts := ensemble.Improved(o)
			return reward * 8e9 / float64(o.Attempts[0].ActiveParams), counts
		},
	}
	_, err := ensemble.New(cfg)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleReport() {
	e, err := ensemble.New(ensemble.Config{
		Members: []ensemble.Member{{Model: llm.Model{Key: "small"}, LLM: answers("x", nil)}},
		Policy:  bandit.Random{},
	})
	if err != nil {
		panic(err)
	}
	reply, _ := e.Generate(context.Background(), ask("p", 1))
	e.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: 1})
	fmt.Print(e.Report())
	// Output:
	//   model  calls  learned  valid  mean reward
	//   small      1        1      1        1.000
}

func ExampleMemberReport() {
	m := ensemble.MemberReport{Model: "small", Learned: 40, MeanReward: 0.15}
	fmt.Printf("%s improved in %.0f%% of %d\n", m.Model, 100*m.MeanReward, m.Learned)
	// Output: small improved in 15% of 40
}

// A search asks the ensemble as any other model, and says what became of the reply.
func ExampleEnsemble() {
	e, err := ensemble.New(ensemble.Config{
		Members: []ensemble.Member{
			{Model: llm.Model{Key: "small", ActiveParams: 8e9}, LLM: answers("x", nil)},
			{Model: llm.Model{Key: "large", ActiveParams: 70e9}, LLM: answers("x", nil)},
		},
		Policy: bandit.Random{},
		Seed:   7,
	})
	if err != nil {
		panic(err)
	}
	reply, err := e.Generate(context.Background(), ask("improve", 1))
	if err != nil {
		panic(err)
	}
	first := reply.Attempts[0]
	fmt.Println("chosen with chance", first.Propensity, "and charged at its own size:", first.ActiveParams > 0)
	e.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: 2, Parent: 1})
	learned := 0
	for _, m := range e.Report().Members {
		learned += m.Learned
	}
	fmt.Println("outcomes learned:", learned)
	// Output:
	// chosen with chance 0.5 and charged at its own size: true
	// outcomes learned: 1
}
