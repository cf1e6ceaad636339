package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// Two policies over the same fifty sets of ten arms.
func ExampleStudy() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: []sim.Contender{
			{Name: "random", New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "thompson", New: func(sim.Setting) bandit.Policy { return &bandit.GaussianThompson{} }},
		},
		Settings: []sim.Setting{{Family: sim.Named("ideas"), Arms: 10, Rounds: 512}},
		Runs:     50,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range cells[0].Entries {
		fmt.Printf("%-8s final best %.1f on average\n", e.Name, sim.Mean(e.Final).Value)
	}
	// Output:
	// random   final best 0.5 on average
	// thompson final best 0.7 on average
}

// One run by hand: three arms, with what they score after 0, 1, 2, ... pulls.
func ExamplePlay() {
	arms := [][]float64{{0.1, 0.2, 0.3, 0.3}, {0.1, 0.1, 0.1, 0.1}, {0.1, 0.4, 0.6, 0.7}}
	played, err := sim.Play(&bandit.UCB1{C: 0.1}, arms, sim.PlayConfig{Rounds: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arms  ", played.Selections)
	fmt.Println("best  ", played.Best)
	fmt.Println("oracle", sim.Oracle(arms, 6))
	// Output:
	// arms   [0 1 2 2 2 0]
	// best   [0.1 0.2 0.2 0.4 0.6 0.7 0.7]
	// oracle [0.1 0.4 0.6 0.7 0.7 0.7 0.7]
}

// Several pulls are pending and end in any order, so the policy decides with less knowledge. With one pull for each
// arm it has nothing left to decide, as arms with a pending pull are closed.
func ExamplePlayConfig() {
	arms := sim.Arms(sim.Named("ideas"), 1, 4, 1, 120)
	for _, inFlight := range []int{1, 4} {
		played, err := sim.Play(&bandit.GaussianThompson{}, arms, sim.PlayConfig{
			Rounds:   120,
			Seed:     1,
			InFlight: inFlight,
			Delay:    func(r *rand.Rand) float64 { return 1 + r.ExpFloat64() },
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		pulls := make([]int, len(arms))
		for _, arm := range played.Selections {
			pulls[arm]++
		}
		fmt.Printf("%d pending: pulls %v, best %.2f\n", inFlight, pulls, played.Best[120])
	}
	// Output:
	// 1 pending: pulls [10 7 11 92], best 0.46
	// 4 pending: pulls [27 29 33 31], best 0.31
}

// The interval of two settings is about other runs in the same settings, however far they lie apart.
func ExampleMean() {
	fmt.Println(sim.Mean([]float64{0.30, 0.32, 0.31, 0.33}, []float64{0.90, 0.91, 0.89, 0.90}))
	// Output: 0.608 [0.601, 0.614]
}

// How far a policy ends above one search with the whole budget, as a share of what there was to gain.
func ExampleGainOver() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: []sim.Contender{
			{Name: "one", Arms: 1, New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "ei", New: func(s sim.Setting) bandit.Policy { return &bandit.ExpectedImprovement{T: s.Calls()} }},
		},
		Settings: []sim.Setting{
			{Family: sim.Named("plateaus"), Arms: 10, Rounds: 128},
			{Family: sim.Named("exchangeable"), Arms: 10, Rounds: 128},
		},
		Runs: 50,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := sim.GainOver(cells, "ei", "one")
	fmt.Printf("%.2f [%.2f, %.2f]\n", g.Mean.Value, g.Mean.Low, g.Mean.High)
	fmt.Printf("at worst %.2f [%.2f, %.2f], in %v\n", g.Worst.Value, g.Worst.Low, g.Worst.High, g.WorstAt.Family)
	// Output:
	// 0.04 [-0.02, 0.11]
	// at worst -0.05 [-0.13, 0.03], in exchangeable
}
