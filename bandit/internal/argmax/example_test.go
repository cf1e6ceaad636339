package argmax_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit/internal/argmax"
)

// Three arms, of which the middle one, arm 1, is closed and so not added.
func ExampleNormal() {
	var n argmax.Normal
	n.Add(0, 0.5, 0.1)
	n.Add(2, 0.6, 0.1)
	p := make([]float64, 3)
	n.Probs(p)
	fmt.Printf("%.4f\n", p) // the second is Φ(0.1/√0.02)
	// Output: [0.2398 0.0000 0.7602]
}
