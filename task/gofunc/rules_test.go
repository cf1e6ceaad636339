package gofunc

import "fmt"

// A program that could ask the clock is refused before it is compiled.
func Example_check() {
	fmt.Println(check("package sorting\n\nimport \"time\"\n\nvar start = time.Now()\n", "sorting",
		[]string{"math", "slices"}))
	fmt.Println(check("package sorting\n\nimport \"slices\"\n\nfunc Sort(xs []int) { slices.Sort(xs) }\n", "sorting",
		Imports()))
	// Output:
	// imports "time", which it may not: allowed are math, slices
	// <nil>
}
