package replay_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/replay"
)

const scores = `generation,40,41,42
0,0.36,0.36,0.36
1,0.36,0.41,0.36
2,0.38,0.41,0.36
3,0.38,0.44,0.36
4,0.38,0.52,0.36
`

// UCB1 over three searches that ran on their own, with five generations to share out.
func ExamplePlay() {
	l, err := replay.Read(strings.NewReader(scores))
	if err != nil {
		fmt.Println(err)
		return
	}
	played, err := replay.Play(&bandit.UCB1{C: 0.05}, l.Arms, replay.Config{Rounds: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arms  ", played.Selections)
	fmt.Println("best  ", played.Best)
	fmt.Println("oracle", sim.Oracle(replay.Curves(l.Arms), 5))
	// Output:
	// arms   [0 1 2 1 1]
	// best   [0.36 0.36 0.41 0.41 0.41 0.44]
	// oracle [0.36 0.41 0.41 0.44 0.52 0.52]
}

func ExampleEstimates_Warning() {
	e := replay.Estimates{Effective: 200, Share: 0.25, Weight: replay.Estimate{Value: 1}}
	fmt.Println(e.Warning())
	// Output: one step has 25 % of all weight: need at most 10 %
}

// A log by even chances over two arms, and what a policy that favors the second would have earned.
func ExampleOffPolicy() {
	e, err := replay.OffPolicy(slices.Values([]replay.Step{
		{Arm: 0, Propensity: 0.5, Reward: 0.2, Target: 0.1},
		{Arm: 1, Propensity: 0.5, Reward: 0.6, Target: 0.9},
		{Arm: 1, Propensity: 0.5, Reward: 0.7, Target: 0.9},
		{Arm: 0, Propensity: 0.5, Reward: 0.3, Target: 0.1},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("logged %.3f, self-normalized %v, from %.1f steps\n", e.Logged, e.SelfNormalized, e.Effective)
	// Output: logged 0.450, self-normalized 0.61 [0.5156, 0.7044], from 2.4 steps
}

// The generations of a search with a breadth differ in width, so its curve has a score for each call.
func ExampleCurves() {
	l, err := replay.Read(strings.NewReader(`{"N": 64, "seed": 40, "breadth": "Doubling(up=2, down=4, 1..64)", "trajectory": [
		{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.3, "width": 1},
		{"generation": 2, "best_fitness": 0.4, "width": 2}, {"generation": 3, "best_fitness": 0.6, "width": 1}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("by pull", l.Arms[0].Best, "of", l.Arms[0].Calls, "calls")
	fmt.Println("by call", replay.Curves(l.Arms)[0])
	// Output:
	// by pull [0.3 0.3 0.4 0.6] of [1 2 1] calls
	// by call [0.3 0.3 0.3 0.4 0.6]
}

// Two searches of generations of 64 children.
func ExampleSize() {
	arms := []replay.Arm{
		{Name: "40", Best: []float64{0.3, 0.3, 0.4}, Calls: []int{64, 64}},
		{Name: "41", Best: []float64{0.3, 0.5, 0.5}, Calls: []int{64, 64}},
	}
	fmt.Println(replay.Size(arms))
	// Output: 64
}

// A bandit's result, as the library writes it, is repeated by the policy that made it.
func ExampleVerify() {
	l, err := replay.Read(strings.NewReader(`{"bandit_seed": 0, "selections": [0, 1, 1], "rewards": [0.3, 0.4, 0.6], "propensities": [1, 1, 1],
		"arm_results": [{"seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.3}]},
		{"seed": 41, "trajectory": [{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.4}, {"generation": 2, "best_fitness": 0.6}]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("UCB1:", replay.Verify(l, &bandit.UCB1{}, 0))
	fmt.Println("Random:", replay.Verify(l, bandit.Random{}, 0))
	// Output:
	// UCB1: <nil>
	// Random: replay: round 0: Random() draws arm 0 with propensity 0.5, the log has 1
}

// Policies over logged searches, four of twenty at a time.
func ExampleFamily() {
	var arms []replay.Arm
	for i := range 20 {
		best := []float64{0.3}
		for n := range 40 {
			best = append(best, 1-0.7/(1+float64(n*i)/200))
		}
		arms = append(arms, replay.Arm{Name: fmt.Sprint(i), Best: best})
	}
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: []sim.Contender{
			{Name: "random", New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "thompson", New: func(sim.Setting) bandit.Policy { return &bandit.GaussianThompson{} }},
		},
		Settings: []sim.Setting{{Family: replay.Family{Name: "my runs", Arms: arms}, Arms: 4, Rounds: 60}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range cells[0].Entries {
		fmt.Printf("%-8s final best %.1f on average\n", e.Name, sim.Summarize(e.Final).Mean.Value)
	}
	// Output:
	// random   final best 0.7 on average
	// thompson final best 0.8 on average
}

// logged is a bandit's run over two searches, with its propensities, as the library's results have it. Here
// each draw was by even chances.
const logged = `{"algo": "random", "bandit_seed": 7, "selections": [0, 1, 1, 0, 1, 0], "rewards": [0.3, 0.4, 0.6, 0.3, 0.7, 0.3],
	"propensities": [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], "arm_results": [
	{"seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.3},
		{"generation": 2, "best_fitness": 0.3}, {"generation": 3, "best_fitness": 0.3}]},
	{"seed": 41, "trajectory": [{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.4},
		{"generation": 2, "best_fitness": 0.6}, {"generation": 3, "best_fitness": 0.7}]}]}`

// What the rounds of a bandit's run would have earned under other policies: one with chances that stay as
// they are, and one that learns along the log.
func ExampleLog() {
	l, err := replay.Read(strings.NewReader(logged))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Run.Algo, "over", l.Arms[0].Name, "and", l.Arms[1].Name, "pulled", l.Run.Selections)
	fixed, err := l.Along(func() bandit.Policy { return bandit.Shares{0.2, 0.8} }, 0)
	if err != nil {
		log.Fatal(err)
	}
	learning, err := l.Along(func() bandit.Policy { return &bandit.GaussianThompson{} }, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, steps := range []iter.Seq[replay.Step]{fixed, learning} {
		e, err := replay.OffPolicy(steps)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("logged %.2f, estimated %.2f\n", e.Logged, e.SelfNormalized.Value)
	}
	// Output:
	// random over seed 40 and seed 41 pulled [0 1 1 0 1 0]
	// logged 0.43, estimated 0.51
	// logged 0.43, estimated 0.52
}

// Scores by generation from a spreadsheet. The kind of log is told from what is in the file.
func ExampleReadFiles_csv() {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "scores.csv")
	if err := os.WriteFile(path, []byte(scores), 0o644); err != nil {
		log.Fatal(err)
	}
	l, err := replay.ReadFiles(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range l.Arms {
		fmt.Println(a.Name, a.Best)
	}
	// Output:
	// 40 [0.36 0.36 0.38 0.38 0.38]
	// 41 [0.36 0.41 0.41 0.44 0.52]
	// 42 [0.36 0.36 0.36 0.36 0.36]
}

// Searches of several files as the arms of one log: two greedy results, say, or exports of another system.
func ExampleReadFiles() {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var paths []string
	for name, text := range map[string]string{
		"a.json": `{"task": "cp", "N": 64, "seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0.36}, {"generation": 1, "best_fitness": 0.52}]}`,
		"b.json": `{"task": "cp", "N": 64, "seed": 41, "trajectory": [{"generation": 0, "best_fitness": 0.36}, {"generation": 1, "best_fitness": 0.47}]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	l, err := replay.ReadFiles(paths...)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range l.Arms {
		fmt.Println(l.Task, a.Name, "has", a.Pulls(), "pull, with reward", a.Reward(1))
	}
	// Output:
	// cp seed 40 has 1 pull, with reward 0.52
	// cp seed 41 has 1 pull, with reward 0.47
}
