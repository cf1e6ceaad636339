package gofunc_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/task/gofunc"
)

// A program that could ask the clock is refused before it is compiled.
func ExampleCheck() {
	fmt.Println(gofunc.Check("package sorting\n\nimport \"time\"\n\nvar start = time.Now()\n", "sorting", []string{"math", "slices"}))
	fmt.Println(gofunc.Check("package sorting\n\nimport \"slices\"\n\nfunc Sort(xs []int) { slices.Sort(xs) }\n", "sorting", gofunc.Imports()))
	// Output:
	// imports "time", which it may not: allowed are math, slices
	// <nil>
}
