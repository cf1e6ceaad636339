package race_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// One search with 512 calls on a traveling salesman's tour, in 16 slots: steps of one child, of 64, as many as Adaptive
// thinks worth it, and a window of 16.
func ExampleRun() {
	for _, c := range []struct {
		name string
		cfg  race.Config
	}{
		{"1 at a time", race.Config{}},
		{"64 at a time", race.Config{Breadth: breadth.Fixed(64)}},
		{"adaptive", race.Config{Breadth: breadth.Adaptive{}}},
		{"window of 16", race.Config{Breadth: breadth.Fixed(512), Window: 16}},
	} {
		c.cfg.Calls, c.cfg.Slots = 512, 16
		c.cfg.Latency = func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64() / 2) }
		var score, seconds float64
		for seed := range uint64(20) {
			c.cfg.Seed = seed
			search := race.Landscape{Kind: "tsp"}.Search(sim.Address{Seed: seed})
			raced, err := race.Run(bandit.Random{}, []race.Search{search}, c.cfg)
			if err != nil {
				fmt.Println(err)
				return
			}
			score, seconds = score+raced.Best[512]/20, seconds+raced.Seconds/20
		}
		fmt.Printf("%-12s %.2f after %3.0f s\n", c.name, score, seconds)
	}
	// Output:
	// 1 at a time  0.42 after 582 s
	// 64 at a time 0.31 after  49 s
	// adaptive     0.40 after 142 s
	// window of 16 0.36 after  38 s
}

// A race step by step: two searches, of which both make two children at once.
func ExampleRecord() {
	f := race.Unlike()[5].(race.Stepper)
	searches := []race.Search{f.Search(sim.Address{Index: 0}), f.Search(sim.Address{Index: 1})}
	raced, err := race.Run(&bandit.UCB1{}, searches, race.Config{Calls: 7, Breadth: breadth.Fixed(2), InFlight: 2,
		Slots: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range raced.Steps {
		fmt.Printf("arm %d: %d children from %v to %v s, score %.4f\n", s.Arm, s.Children, s.Began, s.Ended, s.Score)
	}
	fmt.Println(len(raced.Best)-1, "children in", raced.Seconds, "s")
	// Output:
	// arm 0: 2 children from 0 to 1 s, score 0.0013
	// arm 1: 2 children from 0 to 2 s, score 0.0004
	// arm 0: 2 children from 1 to 3 s, score 0.0026
	// arm 1: 1 children from 2 to 4 s, score 0.0007
	// 7 children in 4 s
}

// Contenders differ in how many arms they have, in the breadth of steps and in how long those take.
func ExampleContender() {
	ei := func(s sim.Setting) bandit.Policy { return &bandit.ExpectedImprovement{T: s.Calls()} }
	cells, err := race.Study(context.Background(), race.StudyConfig{
		Contenders: []race.Contender{
			{Contender: sim.Contender{Name: "ei", New: ei}},
			{Contender: sim.Contender{Name: "ei@adaptive", New: ei}, Breadth: breadth.Adaptive{}},
			{Contender: sim.Contender{Name: "one, window 8", New: ei, Arms: 1}, Breadth: breadth.Fixed(256), Window: 8},
		},
		StudyConfig: sim.StudyConfig{Settings: []sim.Setting{{Family: race.Landscape{Kind: "nk"}, Arms: 10, N: 16,
			Rounds: 16}}, Runs: 30},
		Slots: 8,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range cells[0].Entries {
		fmt.Printf("%-13s final best %.2f in %.0f s\n", e.Name, sim.Summarize(e.Final).Mean.Value,
			sim.Summarize(e.Seconds).Mean.Value)
	}
	// Output:
	// ei            final best 0.86 in 32 s
	// ei@adaptive   final best 0.88 in 75 s
	// one, window 8 final best 0.89 in 32 s
}

// A search is advanced by as many children as one likes.
func ExampleStepper() {
	var f race.Stepper = race.HillClimb{Objective: "cp"}
	search := f.Search(sim.Address{Seed: 1})
	for _, n := range []int{1, 10, 100} {
		better := search.Step(n)
		fmt.Printf("%d of %d children are better: %.3f\n", better, n, search.Best())
	}
	// Output:
	// 1 of 1 children are better: 0.378
	// 5 of 10 children are better: 0.399
	// 49 of 100 children are better: 0.444
}

// Three children of one parent, made at once. The best of them is the next parent, whatever the order.
func ExampleSearch() {
	search := race.Landscape{Kind: "maxcut"}.Search(sim.Address{Seed: 2})
	children := []race.Child{search.Child(), search.Child(), search.Child()}
	fmt.Printf("start %.3f\n", search.Best())
	for _, c := range children {
		fmt.Printf("child %.3f, best %.3f\n", search.Take(c), search.Best())
	}
	// Output:
	// start 0.691
	// child 0.680, best 0.691
	// child 0.705, best 0.705
	// child 0.666, best 0.705
}

// The kinds of landscapes, with the scores that a search begins with and has after 1000 children.
func ExampleLandscape() {
	for _, l := range race.Landscapes() {
		arm := l.Arm(sim.Address{Seed: 1, Rounds: 1000})
		fmt.Printf("%-9v from %.2f to %.2f\n", l, arm[0], arm[1000])
	}
	// Output:
	// nk        from 0.65 to 0.87
	// labs      from 0.00 to 0.51
	// trap      from 0.27 to 0.70
	// tsp       from 0.20 to 0.49
	// rastrigin from 0.04 to 0.40
	// valley    from 0.00 to 0.75
	// maxcut    from 0.69 to 1.00
	// knapsack  from 0.00 to 0.86
	// ackley    from 0.16 to 0.94
}

// Twenty searches whose scores have few levels: with a parent that can be replaced by an equally good child, and without.
func ExampleDrifter() {
	var f race.Drifter = race.HillClimb{Objective: "ht", Rounded: true}
	for _, f := range []race.Stepper{f, f.Drifting()} {
		var sum float64
		for seed := range uint64(20) {
			sum += f.Arm(sim.Address{Seed: seed, Rounds: 500})[500]
		}
		fmt.Printf("%v: %.2f\n", f, sum/20)
	}
	// Output:
	// ht-rounded: 0.20
	// ht-rounded-neutral: 0.24
}

// Families unlike the twenty, with the best of ten arms after 300 pulls: dealt out in turn, and all to the right arm.
// Those that decide had no part in tuning.
func ExampleUnlike() {
	decides := map[string]bool{}
	for _, f := range race.Deciding() {
		decides[f.String()] = true
	}
	for _, f := range race.Unlike() {
		arms := sim.Arms(f, 1, 10, 1, 300)
		robin, oracle := sim.RoundRobin(arms, 300), sim.Oracle(arms, 300)
		fmt.Printf("%-15v %.2f %.2f decides: %t\n", f, robin[300], oracle[300], decides[f.String()])
	}
	// Output:
	// late-jumps      0.22 0.54 decides: false
	// near-top        0.77 1.00 decides: false
	// dead-arms       0.36 0.81 decides: false
	// shrinking-noise 0.60 0.60 decides: true
	// exchangeable    0.24 0.40 decides: true
	// linear          0.02 0.18 decides: true
	// crossing        0.32 0.72 decides: true
	// nk              0.86 0.95 decides: false
	// labs            0.40 0.58 decides: false
	// trap            0.65 0.73 decides: false
	// tsp             0.26 0.40 decides: false
	// rastrigin       0.10 0.31 decides: false
	// valley          0.05 0.72 decides: false
	// maxcut          0.88 1.00 decides: true
	// knapsack        0.85 0.86 decides: true
	// ackley          0.17 0.35 decides: true
}

// The forms of hill-climbs on one objective.
func ExampleHillClimbs() {
	for _, h := range race.HillClimbs()[:4] {
		fmt.Printf("%-14v rounded %-5t few %t\n", h, h.Rounded, h.Few)
	}
	// Output:
	// cp             rounded false few false
	// cp-rounded     rounded true  few false
	// cp-few         rounded false few true
	// cp-rounded-few rounded true  few true
}

func ExampleHillClimb() {
	arm := race.HillClimb{Objective: "cp"}.Arm(sim.Address{Seed: 1, N: 8, Rounds: 200})
	fmt.Printf("circle packing: %.4f at the start, above 0.8 after 200 generations of 8: %t\n", arm[0], arm[200] > 0.8)
	// Output: circle packing: 0.3642 at the start, above 0.8 after 200 generations of 8: true
}

// The best of ten arms after 300 pulls: dealt out in turn, and all to the right arm. The difference is what can be
// gained by deciding well.
func ExampleFamilies() {
	for _, f := range race.Families() {
		arms := sim.Arms(f, 1, 10, 1, 300)
		robin, oracle := sim.RoundRobin(arms, 300), sim.Oracle(arms, 300)
		fmt.Printf("%-17v %.2f %.2f\n", f, robin[300], oracle[300])
	}
	// Output:
	// heavy-tail        0.83 0.85
	// plateaus          0.43 0.74
	// power-law         0.75 0.81
	// first-impressions 0.61 0.95
	// breakthrough      0.63 0.86
	// late-bloomers     0.58 0.96
	// draws             0.65 0.79
	// staircase         0.24 0.88
	// cp                0.53 0.71
	// cp-rounded        0.56 0.71
	// cp-few            0.55 0.72
	// cp-rounded-few    0.51 0.70
	// mmd               0.20 0.44
	// mmd-rounded       0.15 0.51
	// mmd-few           0.11 0.21
	// mmd-rounded-few   0.12 0.29
	// ht                0.12 0.28
	// ht-rounded        0.05 0.27
	// ht-few            0.11 0.21
	// ht-rounded-few    0.15 0.23
}
