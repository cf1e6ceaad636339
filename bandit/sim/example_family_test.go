package sim_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// A family of one's own needs two methods.
type doubling struct{}

func (doubling) String() string { return "doubling" }

// Arm i halves its gap to 1 every i+1 pulls.
func (doubling) Arm(a sim.Address) []float64 {
	scores := []float64{0}
	for n := 1; n <= a.Rounds; n++ {
		best := scores[n-1]
		if n%(a.Index+1) == 0 {
			best = (1 + best) / 2
		}
		scores = append(scores, best)
	}
	return scores
}

func ExampleFamily() {
	for _, arm := range sim.Arms(doubling{}, 0, 3, 1, 6) {
		fmt.Println(arm)
	}
	// Output:
	// [0 0.5 0.75 0.875 0.9375 0.96875 0.984375]
	// [0 0 0.5 0.5 0.75 0.75 0.875]
	// [0 0 0 0.5 0.5 0.5 0.75]
}

// The best of ten arms after 300 pulls: dealt out in turn, and all to the right arm. The difference is what can be
// gained by deciding well.
func ExampleFamilies() {
	for _, f := range sim.Families() {
		arms := sim.Arms(f, 1, 10, 1, 300)
		robin, oracle := sim.RoundRobin(arms, 300), sim.Oracle(arms, 300)
		fmt.Printf("%-17v %.2f %.2f\n", f, robin[300], oracle[300])
	}
	// Output:
	// heavy-tail        0.83 0.85
	// plateaus          0.43 0.74
	// power-law         0.75 0.81
	// first-impressions 0.61 0.95
	// breakthrough      0.63 0.86
	// late-bloomers     0.58 0.96
	// draws             0.65 0.79
	// staircase         0.24 0.88
	// cp                0.53 0.71
	// cp-rounded        0.56 0.71
	// cp-few            0.55 0.72
	// cp-rounded-few    0.51 0.70
	// mmd               0.20 0.44
	// mmd-rounded       0.15 0.51
	// mmd-few           0.11 0.21
	// mmd-rounded-few   0.12 0.29
	// ht                0.12 0.28
	// ht-rounded        0.05 0.27
	// ht-few            0.11 0.21
	// ht-rounded-few    0.15 0.23
}

// Each family has one number that makes it harder, or easier.
func ExampleFamily_parameters() {
	for _, f := range [][2]sim.Family{
		{sim.Breakthrough{}, sim.Breakthrough{Slowest: 3000}},
		{sim.Draws{}, sim.Draws{Widest: 0.02}},
		{sim.FirstImpressions{}, sim.FirstImpressions{Spread: 0.8}},
		{sim.HeavyTail{}, sim.HeavyTail{Rate: 0.5}},
		{sim.LateBloomers{}, sim.LateBloomers{Share: 0.01}},
		{sim.Plateaus{}, sim.Plateaus{Share: 1}},
		{sim.PowerLaw{}, sim.PowerLaw{Noise: 0.1}},
		{sim.Staircase{}, sim.Staircase{Tallest: 0.03}},
	} {
		fmt.Printf("%-17v %.1f %.1f\n", f[0], meanFinal(f[0]), meanFinal(f[1]))
	}
	// Output:
	// breakthrough      0.7 0.5
	// draws             0.6 0.5
	// first-impressions 0.7 0.8
	// heavy-tail        0.6 0.4
	// late-bloomers     0.7 0.5
	// plateaus          0.5 0.4
	// power-law         0.7 0.8
	// staircase         0.6 0.4
}

// meanFinal returns the score of an arm of f after 300 pulls, on average over a hundred arms.
func meanFinal(f sim.Family) float64 {
	var sum float64
	for _, arm := range sim.Arms(f, 1, 100, 1, 300) {
		sum += arm[300]
	}
	return sum / 100
}

// The forms of hill-climbs on one objective.
func ExampleHillClimbs() {
	for _, h := range sim.HillClimbs()[:4] {
		fmt.Printf("%-14v rounded %-5t few %t\n", h, h.Rounded, h.Few)
	}
	// Output:
	// cp             rounded false few false
	// cp-rounded     rounded true  few false
	// cp-few         rounded false few true
	// cp-rounded-few rounded true  few true
}

func ExampleHillClimb() {
	arm := sim.HillClimb{Objective: "cp"}.Arm(sim.Address{Seed: 1, N: 8, Rounds: 200})
	fmt.Printf("circle packing: %.4f at the start, above 0.8 after 200 generations of 8: %t\n", arm[0], arm[200] > 0.8)
	// Output: circle packing: 0.3642 at the start, above 0.8 after 200 generations of 8: true
}
func ExampleSynthetic() {
	for _, f := range sim.Synthetic() {
		arm := f.Arm(sim.Address{Seed: 1, Rounds: 400})
		fmt.Printf("%-17v from %.1f\n", f, arm[0])
	}
	// Output:
	// heavy-tail        from 0.3
	// plateaus          from 0.3
	// power-law         from 0.3
	// first-impressions from 0.2
	// breakthrough      from 0.0
	// late-bloomers     from 0.2
	// draws             from 0.3
	// staircase         from 0.1
}
