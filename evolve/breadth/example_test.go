package breadth_test

import (
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// plateau returns the widths of the steps in which a search makes 120 children. Of the first 24 every fourth is kept, and
// then none.
func plateau(b evolve.Breadth) (widths []int) {
	var past []evolve.Made
	for born := 0; born < 120; {
		m := evolve.Made{Children: b.Children(past), Elapsed: 2 * time.Second}
		for range m.Children {
			if born++; born <= 24 && born%4 == 0 {
				m.Kept++
			}
		}
		past, widths = append(past, m), append(widths, m.Children)
	}
	return widths
}

// With a value of time, steps are wide as soon as one has shown how long it takes, and there are fewer of them.
func ExampleAdaptive() {
	for _, b := range []breadth.Adaptive{{Max: 32}, {Max: 32, Second: 4}} {
		fmt.Println(b, plateau(b))
	}
	// Output:
	// Adaptive(second=0, waste=0.15, 1..32, kept) [1 1 1 1 1 1 1 1 1 1 1 2 1 1 1 1 1 1 2 1 1 1 1 1 2 2 2 2 2 2 2 2 3 3 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4]
	// Adaptive(second=4, waste=0.15, 1..32, kept) [1 4 4 4 4 5 5 5 6 8 10 14 16 18 20]
}
