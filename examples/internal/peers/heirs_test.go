package peers_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
)

// A child takes its parent's place if it is better, and a later child of the same parent has to be better than that heir.
func ExampleHeirs() {
	h := &peers.Heirs{Size: 2}
	add := func(id int, score float64, parents ...int) {
		m := &population.Member{ID: id, Parents: parents}
		m.Result.Valid, m.Result.Score = true, score
		fmt.Print(id, " ", h.Add(m), ", ")
	}
	add(0, 1)       // the initial program
	add(1, 0, 0)    // there is room
	add(2, 0.5, 0)  // worse than its parent
	add(3, 2, 0, 1) // better than its parent
	add(4, 1.5, 0)  // better than its parent, not than the heir
	add(5, 1, 1)
	for _, m := range h.Members() {
		fmt.Print(" ", m.ID)
	}
	fmt.Println(" of", h)
	// Output: 0 true, 1 true, 2 false, 3 true, 4 false, 5 true,  3 5 of Heirs(2)
}
