package evolve_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// The searches differ in their seeds.
func ExampleGreedyArms() {
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: adder, Seed: 40}, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range arms {
		fmt.Println(a)
	}
	// Output:
	// Greedy(sum, N=64, seed=2041713265, neutral)
	// Greedy(sum, N=64, seed=908178384, neutral)
	// Greedy(sum, N=64, seed=3984556111, neutral)
}

func ExampleArmSeed() {
	fmt.Println(evolve.ArmSeed(40, 0), evolve.ArmSeed(40, 1))
	// Output: 2041713265 908178384
}

func ExampleRawScore() {
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: adder, N: 4, Seed: 40, Strict: true}, 2)
	if err != nil {
		log.Fatal(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{ // the BaSE paper's protocol
		Arms: arms, Policy: bandit.Normalize(&bandit.UCB1{}, -100, 0), Reward: evolve.RawScore, Budget: evolve.Budget{Rounds: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Rounds[0].Reward, result.Rounds[1].Reward)
	// Output: -87 -88
}

// thrifty is a search that asks, within the budget of its run, until there is no room for another call.
type thrifty struct{ evolve.Arm }

func (thrifty) Step(ctx context.Context, turn *evolve.Turn) (gen evolve.Generation, err error) {
	for {
		reply, err := turn.Ask(ctx, evolve.KindChild, metered,
			llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "1 2 3"}}})
		if limit, refused := evolve.Refused(err); refused {
			fmt.Println("no room for another call:", limit)
			return gen, err // which ends the run as the budget does
		}
		gen.Children = append(gen.Children, evolve.Child{Index: len(gen.Children), Attempts: reply.Attempts})
	}
}

func ExampleTurn_Ask() {
	result, err := evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{thrifty{search(1)}},
		Budget: evolve.Budget{Tokens: 10_000, Models: []llm.Model{{Key: "tiny", MaxTokens: 1000}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Limit)
	// Output:
	// no room for another call: Tokens
	// budget Tokens
}

func ExampleRefused() {
	_, refused := evolve.Refused(fmt.Errorf("asking: %w", llm.ErrDraining))
	fmt.Println(refused) // nothing was sent, as the run is coming to an end
	// Output: true
}

func ExampleTurn_Evaluate() {
	var byHand *evolve.Turn // limits and records nothing
	r, err := byHand.Evaluate(context.Background(), sum(), "50 forty", 0)
	if err != nil {
		log.Fatal(err) // evaluation itself failed; a bad program is no error
	}
	fmt.Println(r.Valid, r.Reason)
	// Output: false not a number: "forty"
}
