package geometry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"

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
	// cp starts at 0.364101
}

// The packing that everybody thinks of first: 25 equal circles in rows of five, and a small one in a gap.
func ExampleCirclePacking() {
	var circles [][]float64
	for i := range 25 {
		circles = append(circles, []float64{0.1 + 0.2*float64(i%5), 0.1 + 0.2*float64(i/5), 0.1})
	}
	circles = append(circles, []float64{0.2, 0.2, 0.1 * (math.Sqrt2 - 1)})
	fmt.Println(scored(geometry.CirclePacking(), circles))
	// Output: cp: 0.9641
}

// scored returns what p makes of a program that returned these rows.
func scored(p geometry.Problem, rows [][]float64) string {
	data, err := json.Marshal(rows)
	if err != nil {
		log.Fatal(err)
	}
	r := p.Score(data)
	if !r.Valid {
		return r.Reason
	}
	return fmt.Sprintf("%s: %.4f", p.Key, r.Score)
}

// A square grid. A rotated copy of any size scores the same.
func ExampleMinMaxDistance() {
	var grid [][]float64
	for i := range 16 {
		grid = append(grid, []float64{float64(i % 4), float64(i / 4)})
	}
	fmt.Println(scored(geometry.MinMaxDistance(), grid))
	// Output: mmd: 0.7161
}

// Points on a circle are never three on a line, but the triangles of neighbors are thin.
func ExampleHeilbronn() {
	var points [][]float64
	for i := range 11 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 11)
		points = append(points, []float64{0.5 + 0.288*cos, 0.2887 + 0.288*sin})
	}
	fmt.Println(scored(geometry.Heilbronn(), points))
	points[0] = []float64{0, 1}
	fmt.Println(scored(geometry.Heilbronn(), points))
	// Output:
	// ht: 0.4500
	// point 0, (0, 1), is not inside the triangle
}

// What a command-line tool tells of the problems that it has.
func ExampleProblems() {
	for _, p := range geometry.Problems() {
		fmt.Printf("%-4s calls %s of a program: %s\n", p.Key, p.Entry, p.Title)
	}
	// Output:
	// cp   calls pack of a program: circle packing, 26 circles in the unit square
	// mmd  calls spread of a program: min/max distance, 16 points in the plane
	// ht   calls place of a program: Heilbronn problem, 11 points in an equilateral triangle
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
