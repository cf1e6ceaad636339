package hints_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/task/hints"
)

func ExampleGo() {
	reader, err := hints.NewGo(context.Background(), hints.GoConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	found, err := reader.Hints(`package p

func Rows(n int) (rows [][]byte) {
	for range n {
		rows = append(rows, make([]byte, 64))
	}
	return rows
}

func Sum(xs []int) (n int) {
	for _, x := range xs {
		small := make([]int, 4) // on the stack
		small[x&3] = x
		n += small[0]
	}
	return n
}
`)
	for _, h := range found {
		fmt.Println(h.Line, h.Text)
	}
	fmt.Println(err)
	// Output:
	// 5 rows = append(rows, make([]byte, 64)) allocates on the heap in each pass of the loop of line 4
	// <nil>
}

func ExamplePython() {
	ctx := context.Background()
	reader, err := hints.NewPython(ctx, hints.PythonConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	found, err := reader.Hints(`def f(x):
    total = 0
    for i in range(len(x)):
        total += x[i]
    return total
`)
	for _, h := range found {
		fmt.Println(h.Line, h.Text)
	}
	fmt.Println(err)
	// Output:
	// 3 goes over x an element at a time in Python, if x is an array
	// <nil>
}
