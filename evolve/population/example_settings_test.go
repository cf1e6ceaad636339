package population_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// Three arms of a bandit over settings: as configured, with parents drawn more widely, and with more explorations.
func ExampleSettings() {
	for _, s := range []population.Settings{{}, {Explore: 0.3}, {Weights: []float64{1, 4}}} {
		fmt.Println(s)
	}
	// Output:
	// as configured
	// explore 0.3
	// weights 1:4
}
