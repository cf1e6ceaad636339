package evolve_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// plateau returns the widths of the steps in which a search makes 120 children. Of the first 24 every fourth is better, and
// then none.
func plateau(b evolve.Breadth) (widths []int) {
	var past []evolve.Made
	for born := 0; born < 120; {
		m := evolve.Made{Children: b.Children(past), Elapsed: 2 * time.Second}
		for range m.Children {
			if born++; born <= 24 && born%4 == 0 {
				m.Better++
			}
		}
		past, widths = append(past, m), append(widths, m.Children)
	}
	return widths
}

// Whatever has the method is a Breadth: this one is narrow after each gain of the last four steps.
func ExampleBreadthFunc() {
	b := evolve.BreadthFunc(func(past []evolve.Made) int {
		n := 16
		for _, m := range past[max(0, len(past)-4):] {
			if m.Better > 0 {
				n /= 2
			}
		}
		return n
	})
	fmt.Println(plateau(b))
	// Output: [16 8 4 4 4 8 16 16 16 16 16]
}

// The searches of a run share a Breadth. T·N calls stay the budget, and how many steps they make follows.
func ExampleBreadth() {
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: adder, N: 16, Seed: 40,
		Breadth: breadth.Adaptive{}}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Budget: evolve.Budget{Calls: 4 * 16}})
	var widths []int
	for _, round := range result.Rounds {
		widths = append(widths, round.Pull.Calls)
	}
	fmt.Println(result.Calls, widths, err)
	fmt.Println(arms[0])
	// Output:
	// 64 [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2] <nil>
	// Greedy(sum, N=16, seed=2041713265, Adaptive(second=0, waste=0.15, 1..64, kept), neutral)
}

// A search of one's own asks a Breadth for its width in Calls and in Step.
func ExampleMade() {
	b := &evolve.Breeder{Task: sum(), LLM: adder}
	watched := evolve.BreadthFunc(func(past []evolve.Made) int {
		for _, last := range past[max(0, len(past)-1):] {
			fmt.Println(last.Children, last.Better)
		}
		return breadth.Adaptive{}.Children(past)
	})
	for range 4 {
		n, err := b.Width(watched)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = b.Breed(context.Background(), nil, n, func(i int) evolve.Brief {
			return evolve.Brief{Seed: evolve.ChildSeed(40, 0, b.Steps()-1, i)}.Of(b.Initial())
		}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// 1 1
	// 1 0
	// 1 1
}
