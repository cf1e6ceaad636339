package population_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// A bandit over three settings: as configured, with parents drawn more widely, and with more explorations.
func ExampleMetaBandit() {
	m := &population.MetaBandit{Settings: []population.Settings{{}, {Explore: 0.3}, {Weights: []float64{1, 4}}}}
	for _, s := range m.Settings {
		fmt.Println(s)
	}
	// Output:
	// as configured
	// explore 0.3
	// weights 1:4
}
