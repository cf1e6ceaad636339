package js_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
)

// A runner calls a program's function and returns what that returned, as JSON.
func ExampleRunner() {
	r, err := js.New(js.Config{})
	if err != nil {
		panic(err)
	}
	out, err := r.Run(context.Background(), `
		const square = (x) => x * x;
		function points() {
			return [1, 2, 3].map((x) => [x, square(x)]);
		}`, "points")
	fmt.Printf("%s %v\n", out, err)
	// Output:
	// [[1,1],[2,4],[3,9]] <nil>
}

// What a program does wrong is an error of its own.
func ExampleConfig() {
	r, err := js.New(js.Config{MemoryLimit: 4 << 20, Timeout: time.Minute})
	if err != nil {
		panic(err)
	}
	for _, body := range []string{
		"const a = []; while (true) a.push(new Float64Array(1000))",
		"return (function f() { return 1 + f() })()",
		"return [1, 0 / 0]",
		"return fetch('http://localhost')",
	} {
		_, err := r.Run(context.Background(), "function main() {"+body+"}", "main")
		var wrong *eval.ProgramError
		fmt.Println(errors.As(err, &wrong), err)
	}
	// Output:
	// true used more than 4 MiB of memory
	// true calls nest too deeply
	// true returned NaN, not a finite number, at result[1]
	// true threw ReferenceError: 'fetch' is not defined
}
