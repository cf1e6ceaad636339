package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// Two policies over the same fifty sets of ten arms.
func ExampleStudy() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: []sim.Contender{
			{Name: "random", New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "thompson", New: func(sim.Setting) bandit.Policy { return &bandit.GaussianThompson{} }},
		},
		Settings: []sim.Setting{{Family: sim.Named("staircase"), Arms: 10, Rounds: 512}},
		Runs:     50,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range cells[0].Entries {
		fmt.Printf("%-8s final best %.1f on average\n", e.Name, sim.Summarize(e.Final).Mean.Value)
	}
	fmt.Printf("thompson takes %.1f times the pulls\n", sim.Compare(cells, "thompson", "random").GeoMean.Value)
	// Output:
	// random   final best 0.5 on average
	// thompson final best 0.8 on average
	// thompson takes 0.6 times the pulls
}

// One run by hand: three arms, with what they score after 0, 1, 2, ... pulls.
func ExamplePlay() {
	arms := [][]float64{{0.1, 0.2, 0.3, 0.3}, {0.1, 0.1, 0.1, 0.1}, {0.1, 0.4, 0.6, 0.7}}
	played, err := sim.Play(&bandit.UCB1{C: 0.1}, arms, sim.PlayConfig{Rounds: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arms  ", played.Selections)
	fmt.Println("best  ", played.Best)
	fmt.Println("oracle", sim.Oracle(arms, 6))
	// Output:
	// arms   [0 1 2 2 2 0]
	// best   [0.1 0.2 0.2 0.4 0.6 0.7 0.7]
	// oracle [0.1 0.4 0.6 0.7 0.7 0.7 0.7]
}

// Several pulls are pending and end in any order, so the policy decides with less knowledge. With one pull for each
// arm it has nothing left to decide, as arms with a pending pull are closed.
func ExamplePlayConfig() {
	arms := sim.Arms(sim.Named("staircase"), 1, 4, 1, 120)
	for _, inFlight := range []int{1, 4} {
		played, err := sim.Play(&bandit.GaussianThompson{}, arms, sim.PlayConfig{
			Rounds:   120,
			Seed:     1,
			InFlight: inFlight,
			Delay:    func(r *rand.Rand) float64 { return 1 + r.ExpFloat64() },
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		pulls := make([]int, len(arms))
		for _, arm := range played.Selections {
			pulls[arm]++
		}
		fmt.Printf("%d pending: pulls %v, best %.2f\n", inFlight, pulls, played.Best[120])
	}
	// Output:
	// 1 pending: pulls [6 6 103 5], best 0.68
	// 4 pending: pulls [27 29 33 31], best 0.24
}

// Dealing out pulls in turn. A policy should not be slower than that.
func ExampleRoundRobin() {
	arms := [][]float64{{0.1, 0.2, 0.3, 0.3}, {0.1, 0.1, 0.1, 0.1}, {0.1, 0.4, 0.6, 0.7}}
	best := sim.RoundRobin(arms, 6)
	fmt.Println(best)
	// Output:
	// [0.1 0.2 0.2 0.4 0.4 0.4 0.6]
}

// How soon policies reach scores in one setting. The levels are what dealing out pulls in turn reaches in
// nine of ten runs, with half the pulls, as many, and twice as many; -1 is NotReached.
func ExampleCell() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: contenders(),
		Settings:   []sim.Setting{{Family: sim.Named("first-impressions"), Arms: 8, Rounds: 256}},
		Runs:       40,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := cells[0]
	fmt.Println(c.Setting)
	for i, l := range c.Levels {
		fmt.Printf("%.1f T: score %.2f, random needs %d pulls, improvement %d\n", l.Multiple, l.Score, c.Pulls("random", i),
			c.Pulls("improvement", i))
	}
	fmt.Printf("together: %.1f times the pulls\n", c.Ratio("improvement", "random"))
	// Output:
	// first-impressions K=8 N=1 T=256
	// 0.5 T: score 0.52, random needs 29 pulls, improvement 47
	// 1.0 T: score 0.53, random needs 111 pulls, improvement 56
	// 2.0 T: score 0.55, random needs -1 pulls, improvement 179
	// together: 0.8 times the pulls
}

// contenders are two policies to compare. The second is told how long the run is.
func contenders() []sim.Contender {
	return []sim.Contender{
		{Name: "random", New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
		{Name: "improvement", New: func(s sim.Setting) bandit.Policy {
			return &bandit.ExpectedImprovement{T: s.Rounds}
		}},
	}
}

// The course of a policy over many runs, as one would plot it: median and spread of the best score, and how
// far the oracle was ahead.
func ExampleEntry() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: contenders(),
		Settings:   []sim.Setting{{Family: sim.Named("power-law"), Arms: 8, Rounds: 128}},
		Runs:       40,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := cells[0].Entry("improvement")
	for t := 8; t <= 128; t *= 4 {
		fmt.Printf("after %3d pulls: %.2f (%.2f to %.2f), regret %.2f\n", t, e.Median[t], e.Low[t], e.High[t], e.RegretAt[t])
	}
	// Output:
	// after   8 pulls: 0.46 (0.38 to 0.56), regret 0.12
	// after  32 pulls: 0.66 (0.55 to 0.74), regret 0.07
	// after 128 pulls: 0.79 (0.69 to 0.88), regret 0.03
}

// Two policies over several settings: the ratio of the pulls that they need, with the interval that the number of
// runs allows, and the setting where the first is slowest.
func ExampleCompare() {
	var settings []sim.Setting
	for _, f := range sim.Families()[:8] {
		settings = append(settings, sim.Setting{Family: f, Arms: 6, Rounds: 96})
	}
	cells, err := sim.Study(context.Background(), sim.StudyConfig{Contenders: contenders(), Settings: settings, Runs: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := sim.Compare(cells, "improvement", "random")
	fmt.Printf("%.1f [%.1f, %.1f] in %d settings\n", c.GeoMean.Value, c.GeoMean.Low, c.GeoMean.High, c.Settings)
	fmt.Printf("at worst %.1f, at %v\n", c.Worst, c.WorstAt)
	// Output:
	// 0.7 [0.6, 0.8] in 7 settings
	// at worst 1.2, at staircase K=6 N=1 T=96
}

// How soon the first policy reaches the scores that the other reaches with nine runs in ten after ½·T and T pulls.
func ExampleCompareAtBest() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: contenders(),
		Settings:   []sim.Setting{{Family: sim.Named("power-law"), Arms: 6, Rounds: 96}},
		Runs:       30,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("in %.1f of the pulls\n", sim.CompareAtBest(cells, "improvement", "random").GeoMean.Value)
	// Output:
	// in 0.3 of the pulls
}

// How the best score of a run rose: from 0.2 at the start, in its third and fourth pulls.
func ExampleCourse() {
	course := sim.Course{{Pulls: 0, Score: 0.2}, {Pulls: 3, Score: 0.5}, {Pulls: 4, Score: 0.6}}
	fmt.Println(course.After(2), course.After(3), course.First(0.55), course.First(0.7) == sim.NotReached)
	// Output: 0.2 0.5 4 true
}

func ExampleSummarize() {
	s := sim.Summarize([]float64{0.70, 0.72, 0.71, 0.69, 0.73, 0.10, 0.70, 0.74})
	fmt.Printf("mean %.3f, interquartile mean %.3f\n", s.Mean.Value, s.IQM.Value)
	// Output: mean 0.636, interquartile mean 0.708
}

// The runs of two settings, one of which has higher scores. The interval by setting is about other runs in these
// settings; the pooled one is also about which settings were chosen.
func ExampleSummarizeAll() {
	strata := [][]float64{{0.30, 0.32, 0.31, 0.33}, {0.90, 0.91, 0.89, 0.90}}
	pooled := sim.Summarize(append(append([]float64(nil), strata[0]...), strata[1]...))
	fmt.Printf("by setting %.2f\npooled     %.2f\n", sim.SummarizeAll(strata).Mean, pooled.Mean)
	// Output:
	// by setting {0.61 0.60 0.61}
	// pooled     {0.61 0.39 0.82}
}

// How far a policy ends above one search with the whole budget, as a share of what there was to gain.
func ExampleGainOver() {
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: []sim.Contender{
			{Name: "one", Arms: 1, New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "ei", New: func(s sim.Setting) bandit.Policy { return &bandit.ExpectedImprovement{T: s.Calls()} }},
		},
		Settings: []sim.Setting{
			{Family: sim.Named("dead-arms"), Arms: 10, Rounds: 128},
			{Family: sim.Named("exchangeable"), Arms: 10, Rounds: 128},
		},
		Runs: 50,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := sim.GainOver(cells, "ei", "one")
	fmt.Printf("%.2f [%.2f, %.2f]\n", g.Mean.Value, g.Mean.Low, g.Mean.High)
	fmt.Printf("at worst %.2f [%.2f, %.2f], in %v\n", g.Worst.Value, g.Worst.Low, g.Worst.High, g.WorstAt.Family)
	// Output:
	// 0.14 [0.04, 0.22]
	// at worst -0.05 [-0.13, 0.03], in exchangeable
}
