// Bandit evolves a circle packing with 2,048 calls. One bandit draws which of three models makes the next child, and
// another which of ten searches goes on. The models are stand-ins; a real one is made by openai.New in the place of
// offline.New. Killed at any instant, the same command goes on. "evoalloc bandit" is this program with flags.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

const (
	folder, name                  = "results/bandit/cp/offline", folder + "/example" // of the run's files
	calls, searches, widest, seed = 2048, 10, 64, 40
)

func main() {
	cp := must(geometry.CirclePacking().Task(must(js.New(js.Config{})), "javascript"))
	cp = task.WithEvaluator(cp, eval.Limit(cp, runtime.NumCPU()))
	var proposers []evolve.Proposer // they differ in how bold they are; others in model, system message or instruction
	for _, temper := range []string{"small", "large", "splice"} {
		model := must(offline.New(offline.Config{Temper: temper, Latency: 4 * time.Millisecond}))
		proposers = append(proposers, evolve.Proposer{Name: temper, LLM: llm.Limit(model, 16)})
	}
	width := breadth.Adaptive{Max: widest} // children in a generation
	search := evolve.GreedyConfig{Task: cp, Proposers: proposers, N: widest, Breadth: width, Seed: seed}
	arms := must(evolve.GreedyArms(search, searches))
	check(os.MkdirAll(folder, 0o777))
	j := must(journal.Open(name+".journal", journal.Config{Resume: true, Command: "go run ./examples/bandit",
		Fingerprint: journal.Fingerprint{"search": fmt.Sprint(searches, " of ", arms[0])}}))
	defer j.Close()
	if j.Finished() {
		fmt.Printf("%s.journal holds a finished run; remove it to begin anew\n", name)
	}
	policy := &bandit.Challenge{T: calls}
	r := must(evolve.Run(context.Background(), evolve.Config{
		Arms: arms, Policy: policy, Budget: evolve.Budget{Calls: calls}, Journal: j,
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration && e.Pull.ID%100 == 0 {
				fmt.Printf("%4d calls: the best has %.6f\n", e.Calls, e.Best.Result.Score)
			}
		},
	}))
	header := report.BanditHeader{Header: report.Header{
		Task: cp.Name(), Model: offline.Nominal(), T: calls / widest, N: widest, Breadth: width,
	}, Algo: "challenge", Policy: fmt.Sprint(policy)}
	for i := range arms {
		header.ArmSeeds = append(header.ArmSeeds, evolve.ArmSeed(seed, i))
	}
	check(result.Save(name+".json", report.NewBandit(r, header)))
	fmt.Printf("\n%s\n%s\nevery call is in %s.json\n", eval.Printable(report.Summary(r, offline.Nominal())),
		eval.Printable(r.Best.Program), name)
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
}
