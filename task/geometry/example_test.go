package geometry_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// A problem becomes a task with a way to run its programs.
func ExampleProblem_Task() {
	runner, err := js.New(js.Config{})
	if err != nil {
		panic(err)
	}
	task, err := geometry.CirclePacking().Task(runner, "javascript")
	if err != nil {
		panic(err)
	}
	result, err := task.Evaluate(context.Background(), task.Initial())
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s starts at %.6f\n", task.Name(), result.Score)
	// Output:
	// cp starts at 0.364237
}

// The score of a problem is a function of what the program returned.
func ExampleProblem() {
	p := geometry.MinMaxDistance()
	fmt.Println(p.Title)
	fmt.Println(p.Score([]byte(`[[0, 0], [0, 1]]`)).Reason)
	// Output:
	// min/max distance, 16 points in the plane
	// spread returned no points: 2 rows: want 16
}
