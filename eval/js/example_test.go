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

// A program that loops ends when its time is up.
func ExampleConfig() {
	r, err := js.New(js.Config{Timeout: 50 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	_, err = r.Run(context.Background(), "function main() { while (true) {} }", "main")
	fmt.Println(err)
	// Output:
	// ran longer than 50ms
}

// Random numbers come from the seed, the same for every program, so that equal programs score the same.
func ExampleConfig_seed() {
	const program = "function main() { return [1, 2, 3].map(() => Math.floor(100 * Math.random())) }"
	for _, seed := range []uint64{1, 1, 2} {
		r, err := js.New(js.Config{Seed: seed})
		if err != nil {
			panic(err)
		}
		out, err := r.Run(context.Background(), program, "main")
		fmt.Printf("%s %v\n", out, err)
	}
	// Output:
	// [29,84,37] <nil>
	// [29,84,37] <nil>
	// [54,8,89] <nil>
}

// Whatever else a program does wrong is an error of its own.
func ExampleRunner_Run() {
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
