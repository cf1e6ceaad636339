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
	// 0 17 lines, 2 functions; Rows branches most, with a cyclomatic complexity of 2; loops nest 1 deep
	// 5 make([]byte, 64) is allocated on the heap in each pass that comes here, in the loop of line 4
	// <nil>
}

func ExamplePython() {
	ctx := context.Background()
	reader, err := hints.NewPython(ctx, hints.PythonConfig{Sizes: map[string]int64{"x": 40_000_000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	found, err := reader.Hints(`import numpy as np

def f(x):
    return np.exp(np.sin(x) + np.cos(x) ** 2)
`)
	for _, h := range found {
		fmt.Println(h.Line, h.Text)
	}
	fmt.Println(err)
	// Output:
	// 4 may allocate 4 temporary arrays of about 40 MB each, and makes 5 passes over arrays such as x
	// 0 3 lines, 1 functions; f branches most, with a cyclomatic complexity of 1
	// <nil>
}
