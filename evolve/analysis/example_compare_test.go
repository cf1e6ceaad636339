package analysis_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// two methods over two families, paired by seed.
var (
	ours   = analysis.Scores{{0.61, 0.72, 0.68, 0.66, 0.75, 0.70}, {0.40, 0.52, 0.47, 0.44, 0.58, 0.49}}
	theirs = analysis.Scores{{0.55, 0.70, 0.60, 0.61, 0.66, 0.69}, {0.41, 0.43, 0.46, 0.40, 0.50, 0.45}}
)

func ExampleBootstrap() {
	estimate, err := analysis.Bootstrap{Seed: 1}.Estimate(ours, analysis.IQM)
	fmt.Println(err, estimate.Contains(0.59), estimate.Low < estimate.Value)
	// Output: <nil> true true
}

func ExampleBootstrap_Estimate() {
	i, err := analysis.Bootstrap{Samples: 500}.Estimate(analysis.Scores{{3, 3, 3}}, analysis.Mean)
	fmt.Println(i, err)
	// Output: 3 [3, 3] <nil>
}

func ExampleBootstrap_Paired() {
	c, err := analysis.Bootstrap{Seed: 1}.Paired(ours, theirs)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("difference %.3f, IQM %.3f, improvement %.2f\n", c.Difference.Value, c.IQM.Value, c.Improvement.Value)
	fmt.Println("decided:", !c.Difference.Contains(0))
	// Output:
	// difference 0.047, IQM 0.062, improvement 0.74
	// decided: true
}

func ExampleBootstrap_Unpaired() {
	c, err := analysis.Bootstrap{Seed: 1}.Unpaired(ours, theirs)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("difference %.3f, decided: %v\n", c.Difference.Value, !c.Difference.Contains(0))
	// Output: difference 0.047, decided: true
}

func ExampleComparison() {
	c, _ := analysis.Bootstrap{}.Paired(ours, theirs)
	fmt.Println(c.Strata, "families,", c.Runs, "pairs")
	// Output: 2 families, 12 pairs
}

func ExampleBootstrap_Profile() {
	profile, err := analysis.Bootstrap{Seed: 1}.Profile(ours, []float64{0.45, 0.65})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, share := range profile {
		fmt.Printf("%.2f\n", share.Value)
	}
	// Output:
	// 0.83
	// 0.42
}

func ExampleProfile() {
	fmt.Println(analysis.Profile(analysis.Scores{{1, 2}, {3, 5}}, []float64{0, 2, 4}))
	// Output: [1 0.5 0.25]
}

func ExampleMean() {
	fmt.Println(analysis.Mean(analysis.Scores{{1, 2, 3}, {10}}))
	// Output: 6
}

func ExampleIQM() {
	fmt.Println(analysis.IQM(analysis.Scores{{1, 2, 3, 100}}))
	// Output: 2.5
}

func ExampleInterval() {
	i := analysis.Interval{Value: 0.5, Low: 0.25, High: 1}
	fmt.Println(i, i.Contains(0), i.Width())
	// Output: 0.5 [0.25, 1] false 0.75
}

func ExampleRunsFor() {
	// Ten runs gave an interval of width 0.4. Half of it takes forty.
	fmt.Println(analysis.RunsFor(10, 0.4, 0.2))
	// Output: 40 <nil>
}

func ExampleInterval_String() {
	fmt.Println(analysis.Interval{Value: -0.046, Low: -0.057, High: -0.035}.String())
	// Output: -0.046 [-0.057, -0.035]
}

func ExampleInterval_Contains() {
	fmt.Println(analysis.Interval{Value: -0.046, Low: -0.057, High: -0.035}.Contains(0))
	// Output: false
}

func ExampleInterval_Width() {
	fmt.Println(analysis.Interval{Value: 2, Low: 1, High: 4}.Width())
	// Output: 3
}
