package analysis_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// searches returns greedy searches of six breadths and four seeds, whose gap to 1 falls as a surface says, a little
// more for some seeds than for others.
func searches() []analysis.Curve {
	s := analysis.Surface{B0: -0.1, A: -0.3, B: -0.25, C: -0.04}
	var runs []analysis.Curve
	for n := 1; n <= 32; n *= 2 {
		for seed := range 4 {
			r := analysis.Curve{Task: "cp", Model: "tiny", Method: "greedy", T: 32 / n, N: n, Seed: int64(seed)}
			for t := range r.T + 1 {
				luck := 1 + 0.02*float64(2*(seed%2)-1)
				r.Best = append(r.Best, 1-luck*math.Exp(s.At(float64(max(t, 1)), float64(n))))
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// grid is the grid of searches.
func grid() *analysis.Grid {
	g, err := analysis.NewGrid(searches(), analysis.GridConfig{})
	if err != nil {
		panic(err)
	}
	return g
}

func Example() {
	g := grid()
	s, err := g.Surface()
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := g.Intervals(analysis.Bootstrap{Seed: 1}, analysis.BySearch, 32)
	if err != nil {
		fmt.Println(err)
		return
	}
	best := s.Split(32, 0.1)
	fmt.Printf("c = %.3f, depth and breadth complement each other: %v\n", s.C, in.C.High < 0)
	fmt.Printf("32 calls are best spent in %.0f generations of %.0f\n", best.T, best.N)
	// Output:
	// c = -0.040, depth and breadth complement each other: true
	// 32 calls are best spent in 11 generations of 3
}

func ExampleCurve() {
	r := searches()[0]
	fmt.Println(r, "of", r.Calls(), "calls")
	fmt.Printf("%.2f after %d generations\n", r.Final(), r.Generations())
	// Output:
	// cp/tiny/greedy T=32 N=1 seed 0 of 32 calls
	// 0.69 after 32 generations
}

func ExampleCurve_AnsweredBy() {
	// Of two generations of four, one child of the first was not answered.
	r := analysis.Curve{T: 2, N: 4, Best: []float64{0, 0.5, 0.75}, Answered: []int{0, 3, 4}}
	fmt.Println(r.AnsweredBy(1), r.AnsweredBy(2))
	// Output: 3 7
}

func ExampleCurve_Early() {
	r := analysis.Curve{T: 8, N: 4, Best: []float64{0, 0.5, 0.75}, Stop: "canceled"}
	fmt.Println(r.Early())
	// Output: true
}

func ExampleRead() {
	r, err := analysis.Read(strings.NewReader(`{"task": "cp", "model": "qwen3-8b", "T": 1, "N": 2, "seed": 40, "trajectory": [
		{"generation": 0, "best_fitness": 0.36},
		{"generation": 1, "best_fitness": 0.41, "children": [
			{"fitness": 0.41, "final_status": "ok"}, {"fitness": null, "final_status": "timeout"}]}]}`))
	fmt.Println(r, r.Best, r.Answered, err)
	// Output: cp/qwen3-8b/greedy T=1 N=2 seed 40 [0.36 0.41] [0 1] <nil>
}

func ExampleReadFile() {
	_, err := analysis.ReadFile(filepath.Join("results", "no-such-file.json"))
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}

func ExampleNewGrid() {
	runs := searches()
	_, err := analysis.NewGrid(append(runs, runs[0]), analysis.GridConfig{})
	fmt.Println(strings.Contains(err.Error(), "are one seed"))
	// Output: true
}

func ExampleGridConfig() {
	ceiling := 2.0
	g, err := analysis.NewGrid(searches(), analysis.GridConfig{MinCalls: 8, MaxCalls: 16, Ceiling: &ceiling})
	fmt.Println(g.Budgets(), len(g.Cells), err)
	// Output: [8 16] 9 <nil>
}

func ExampleGrid() {
	g := grid()
	fmt.Println(len(g.Cells), "cells, ceiling", g.Ceiling)
	// Output: 21 cells, ceiling 1
}

func ExampleGrid_Budgets() {
	fmt.Println(grid().Budgets())
	// Output: [1 2 4 8 16 32]
}

func ExampleCell() {
	c := grid().Cells[3]
	fmt.Printf("T=%d N=%d, %d calls, %d children answered a generation: %.3f over %d searches\n",
		c.T, c.N, c.Calls(), c.N, c.Mean, c.Searches)
	// Output: T=8 N=1, 8 calls, 1 children answered a generation: 0.515 over 4 searches
}

func ExampleSurface() {
	s := analysis.Surface{A: -0.2783, B: -0.1827, C: -0.0461}
	fmt.Printf("%.3f\n", s.At(16, 16))
	// Output: -1.633
}

func ExampleGrid_Surface() {
	s, err := grid().Surface()
	fmt.Printf("%.2f %.2f %.2f, R² %.3f, %d floored, %v\n", s.A, s.B, s.C, s.Fit.R2, s.Floored, err)
	// Output: -0.30 -0.25 -0.04, R² 1.000, 0 floored, <nil>
}

func ExampleGrid_Intervals() {
	in, err := grid().Intervals(analysis.Bootstrap{Seed: 1, Samples: 200}, analysis.BySearch, 32)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(in.C.Contains(-0.04), in.C.Contains(0), in.Splits[0].T.Contains(10.6))
	// Output: true false true
}

func ExampleSurfaceIntervals() {
	in, _ := grid().Intervals(analysis.Bootstrap{Samples: 200}, analysis.BySearch)
	fmt.Println(in.A.High < 0, in.B.High < 0)
	// Output: true true
}

func ExampleSplitInterval() {
	in, _ := grid().Intervals(analysis.Bootstrap{Samples: 200}, analysis.BySearch, 32)
	best := in.Splits[0]
	fmt.Println(best.N.Low < best.N.Value, best.Interior)
	// Output: true 1
}

func ExampleResampling() {
	// Four seeds are enough to draw searches, not to draw seeds.
	_, err := grid().Intervals(analysis.Bootstrap{}, analysis.BySeed)
	fmt.Println(err)
	// Output: analysis: breadth 1 has 4 seeds: an interval takes at least 5, better ten
}

func ExampleGrid_Rivals() {
	rivals, err := grid().Rivals()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rivals {
		fmt.Printf("%s: adjusted R² %.3f, held out %.3f\n", r.Name, r.Fit.AdjR2, r.HeldOut)
	}
	// Output:
	// budget: adjusted R² 0.967, held out 0.056
	// depth and breadth: adjusted R² 0.988, held out 0.034
	// depth, breadth and their product: adjusted R² 1.000, held out 0.000
}

func ExampleRival() {
	rivals, _ := grid().Rivals()
	fmt.Println(rivals[2].Fit.AIC < rivals[1].Fit.AIC)
	// Output: true
}

func ExampleGrid_HeldOut() {
	held, err := grid().HeldOut()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range held {
		fmt.Printf("C=%d: T=%.1f predicted, %d best, loss %.3f\n", h.Calls, h.Predicted, h.Best.T, h.Loss)
	}
	// Output:
	// C=2: T=2.0 predicted, 2 best, loss 0.000
	// C=4: T=3.7 predicted, 4 best, loss 0.000
	// C=8: T=5.3 predicted, 4 best, loss 0.000
	// C=16: T=7.5 predicted, 8 best, loss 0.000
	// C=32: T=10.6 predicted, 8 best, loss 0.000
}

func ExampleHeldOut() {
	held, _ := grid().HeldOut()
	fmt.Println(held[4].Nearest.T, held[4].Best.T)
	// Output: 8 8
}

func ExampleGrid_Envelope() {
	points, err := grid().Envelope(0, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range points[4:] {
		fmt.Printf("C=%d: T=%d N=%d, best mean %.3f, fair %.3f\n", p.Calls, p.Cell.T, p.Cell.N, p.Cell.Mean, p.Fair)
	}
	// Output:
	// C=16: T=8 N=2, best mean 0.615, fair 0.611
	// C=32: T=8 N=4, best mean 0.694, fair 0.692
}

func ExampleEnvelopePoint() {
	points, _ := grid().Envelope(0, 1)
	fmt.Println(points[5].Fair <= points[5].Cell.Mean)
	// Output: true
}

func ExampleBootstrap_Threshold() {
	runs := []analysis.Curve{
		{T: 3, N: 2, Seed: 1, Best: []float64{0, 0, 9, 9}},
		{T: 3, N: 2, Seed: 2, Best: []float64{0, 0, 9, 9}},
		{T: 3, N: 2, Seed: 3, Best: []float64{0, 0, 0, 0}},
	}
	th, err := analysis.Bootstrap{}.Threshold(runs, 2, 0.9)
	fmt.Println(th.ByRuns.Generation, th.ByMean.Generation, err)
	// Output: -1 2 <nil>
}

func ExampleThreshold() {
	th, _ := analysis.Bootstrap{}.Threshold(searches()[:4], 0.6, 0.9)
	fmt.Printf("%d of %d runs reached it, %d at the start\n", th.Reached, th.Runs, th.AtStart)
	// Output: 4 of 4 runs reached it, 0 at the start
}

func ExampleReach() {
	th, _ := analysis.Bootstrap{}.Threshold(searches()[:4], 0.6, 0.9)
	fmt.Println(th.ByRuns.Generation, th.ByRuns.Calls)
	// Output: 17 17
}

func ExampleCurve_Calls() {
	fmt.Println(analysis.Curve{T: 8, N: 4}.Calls())
	// Output: 32
}

func ExampleCurve_Final() {
	fmt.Println(analysis.Curve{Best: []float64{0.25, 0.5}}.Final())
	// Output: 0.5
}

func ExampleCurve_Generations() {
	fmt.Println(analysis.Curve{Best: []float64{0.25, 0.5}}.Generations())
	// Output: 1
}

func ExampleCurve_String() {
	fmt.Println(analysis.Curve{Task: "cp", Model: "tiny", Method: "ucb K=4", T: 8, N: 4, Seed: 40, From: "ucb.json"})
	// Output: cp/tiny/ucb K=4 T=8 N=4 seed 40 in ucb.json
}

func ExampleCell_Calls() {
	fmt.Println(analysis.Cell{T: 8, N: 4}.Calls())
	// Output: 32
}

func ExampleSurface_At() {
	fmt.Printf("%.2f\n", analysis.Surface{B0: -1, A: -0.5}.At(math.E, 1))
	// Output: -1.50
}
