package replay_test

import (
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/replay"
)

// scores are the best so far of three searches that ran on their own, by generation.
var scores = []replay.Arm{
	{Name: "40", Best: []float64{0.36, 0.36, 0.38, 0.38, 0.38}},
	{Name: "41", Best: []float64{0.36, 0.41, 0.41, 0.44, 0.52}},
	{Name: "42", Best: []float64{0.36, 0.36, 0.36, 0.36, 0.36}},
}

// UCB1 over three searches that ran on their own, with five generations to share out.
func ExamplePlay() {
	played, err := replay.Play(&bandit.UCB1{C: 0.05}, scores, replay.Config{Rounds: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arms  ", played.Selections)
	fmt.Println("best  ", played.Best)
	fmt.Println("the second search alone", scores[1].After(5))
	// Output:
	// arms   [0 1 2 1 1]
	// best   [0.36 0.36 0.41 0.41 0.41 0.44]
	// the second search alone 0.52
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

// Searches of several files as the arms of one log: two greedy results, say.
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
