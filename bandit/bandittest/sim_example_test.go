package bandittest_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

// Two policies over the same fifty sets of ten arms.
func ExampleStudy() {
	cells, err := bandittest.Study(context.Background(), bandittest.StudyConfig{
		Contenders: []bandittest.Contender{
			{Name: "random", New: func(bandittest.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "thompson", New: func(bandittest.Setting) bandit.Policy { return &bandit.GaussianThompson{} }},
		},
		Settings: []bandittest.Setting{{Family: bandittest.Staircase{}, Arms: 10, Rounds: 512}},
		Runs:     50,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range cells[0].Entries {
		fmt.Printf("%-8s final best %.1f on average\n", e.Name, bandittest.Summarize(e.Final).Mean.Value)
	}
	fmt.Printf("thompson takes %.1f times the pulls\n", bandittest.Compare(cells, "thompson", "random").GeoMean.Value)
	// Output:
	// random   final best 0.5 on average
	// thompson final best 0.8 on average
	// thompson takes 0.6 times the pulls
}

// One run by hand: three arms, with what they score after 0, 1, 2, ... pulls.
func ExamplePlay() {
	arms := [][]float64{{0.1, 0.2, 0.3, 0.3}, {0.1, 0.1, 0.1, 0.1}, {0.1, 0.4, 0.6, 0.7}}
	played, err := bandittest.Play(&bandit.UCB1{C: 0.1}, arms, bandittest.PlayConfig{Rounds: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arms  ", played.Selections)
	fmt.Println("best  ", played.Best)
	fmt.Println("oracle", bandittest.Oracle(arms, 6))
	// Output:
	// arms   [0 1 2 2 2 0]
	// best   [0.1 0.2 0.2 0.4 0.6 0.7 0.7]
	// oracle [0.1 0.4 0.6 0.7 0.7 0.7 0.7]
}

// A family of one's own needs two methods.
type doubling struct{}

func (doubling) String() string { return "doubling" }

// Arm i halves its gap to 1 every i+1 pulls.
func (doubling) Arm(a bandittest.Address) []float64 {
	scores := []float64{0}
	for n := 1; n <= a.Rounds; n++ {
		best := scores[n-1]
		if n%(a.Index+1) == 0 {
			best = (1 + best) / 2
		}
		scores = append(scores, best)
	}
	return scores
}

func ExampleFamily() {
	for _, arm := range bandittest.Arms(doubling{}, 0, 3, 1, 6) {
		fmt.Println(arm)
	}
	// Output:
	// [0 0.5 0.75 0.875 0.9375 0.96875 0.984375]
	// [0 0 0.5 0.5 0.75 0.75 0.875]
	// [0 0 0 0.5 0.5 0.5 0.75]
}

func ExampleHillClimb() {
	arm := bandittest.HillClimb{Objective: "cp"}.Arm(bandittest.Address{Seed: 1, N: 8, Rounds: 200})
	fmt.Printf("circle packing: %.4f at the start, above 0.8 after 200 generations of 8: %t\n", arm[0], arm[200] > 0.8)
	// Output: circle packing: 0.3642 at the start, above 0.8 after 200 generations of 8: true
}

func ExampleReliable() {
	pulls := []int{12, 9, 30, 11, bandittest.NotReached, 10, 15, 8, 9, 14} // until a score, by run
	fmt.Println(bandittest.Reliable(pulls, 0.9), bandittest.Reliable(pulls, 1) == bandittest.NotReached)
	// Output: 30 true
}

func ExampleSummarize() {
	s := bandittest.Summarize([]float64{0.70, 0.72, 0.71, 0.69, 0.73, 0.10, 0.70, 0.74})
	fmt.Printf("mean %.3f, interquartile mean %.3f\n", s.Mean.Value, s.IQM.Value)
	// Output: mean 0.636, interquartile mean 0.708
}

func ExampleSynthetic() {
	for _, f := range bandittest.Synthetic() {
		arm := f.Arm(bandittest.Address{Seed: 1, Rounds: 400})
		fmt.Printf("%-17v from %.1f\n", f, arm[0])
	}
	// Output:
	// heavy-tail        from 0.3
	// plateaus          from 0.3
	// power-law         from 0.3
	// first-impressions from 0.2
	// breakthrough      from 0.0
	// late-bloomers     from 0.2
	// draws             from 0.3
	// staircase         from 0.1
}
