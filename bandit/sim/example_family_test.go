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

// The best of ten arms after 300 pulls: the first one alone, and the best one alone. The difference is what can be
// gained by deciding well.
func ExampleFamilies() {
	for _, f := range sim.Families() {
		arms := sim.Arms(f, 1, 10, 1, 300)
		fmt.Printf("%-13v %.2f %.2f\n", f, arms[0][300], sim.Oracle(arms, 300)[300])
	}
	// Output:
	// heavy-tail    0.53 0.85
	// plateaus      0.30 0.74
	// breakthrough  0.68 0.86
	// late-bloomers 0.45 0.96
	// draws         0.78 0.79
	// linear        0.11 0.18
	// crossing      0.37 0.72
	// ideas         0.22 0.60
	// exchangeable  0.26 0.40
	// rare-luck     0.33 0.57
	// gemini        1.00 1.00
	// gemini-digits 0.92 1.00
}

func ExampleNamed() {
	arm := sim.Named("linear").Arm(sim.Address{Seed: 1, Rounds: 400})
	fmt.Printf("from %.1f to %.2f\n", arm[0], arm[400])
	// Output: from 0.0 to 0.14
}
