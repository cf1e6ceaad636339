// Resume shows a search of one's own, which knows nothing of journals, being killed half-way and going
// on where it was. It starts itself as another process, kills that without warning, starts it again,
// and says how many calls the second process had to make.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// annealing is a search that now and then goes on from a worse child. What it asks for follows from its seeds
// and the answers, which is all that a search needs to be resumed; the rest is the Breeder's.
type annealing struct {
	evolve.Breeder
	current evolve.Child // what it goes on from
}

func (a *annealing) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return a.Breed(ctx, turn, 1, a.brief, a.take)
}

// brief asks for a rewrite of the current program.
func (a *annealing) brief(int) evolve.Brief {
	if !a.current.HasProgram() {
		a.current = a.Initial()
	}
	return evolve.Brief{Seed: evolve.ChildSeed(1, 1, a.Steps(), 0)}.Of(a.current)
}

// take goes on from a child that is better, and from others with a chance that falls with the loss and with
// time.
func (a *annealing) take(c evolve.Child) {
	luck := rand.New(rand.NewPCG(uint64(c.Seed), 0)).Float64()
	if loss := a.current.Result.Score - c.Result.Score; c.Result.Valid && luck < math.Exp(-loss*float64(10+a.Steps())) {
		a.current = c
	}
}

// work makes the run, or goes on with it, and says what it came to.
func work(ctx context.Context, path string) error {
	j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"search": "annealing"}, Command: "go run ./examples/resume"})
	if err != nil {
		return err
	}
	defer j.Close()
	made := 0
	stand, err := offline.New(offline.Config{Latency: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		made++
		return stand.Generate(ctx, req)
	})
	runner, err := js.New(js.Config{})
	if err != nil {
		return err
	}
	cp, err := geometry.CirclePacking().Task(runner, "javascript")
	if err != nil {
		return err
	}
	result, err := evolve.Run(ctx, evolve.Config{
		Arms:    []evolve.Arm{&annealing{Breeder: evolve.Breeder{Task: cp, LLM: counted}}},
		Budget:  evolve.Budget{Calls: 200},
		Journal: j,
	})
	if err != nil {
		return err
	}
	fmt.Printf("best %.6f after %d calls, of which this process made %d (%d had been under way at a kill)\n",
		result.Best.Result.Score, result.Calls, made, j.Lost())
	return nil
}

func main() {
	path := flag.String("journal", "", "make the run in this process, with this journal (default: start, kill and resume it)")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *path != "" {
		if err := work(context.Background(), *path); err != nil {
			log.Fatal(eval.Printable(err.Error()))
		}
		return
	}
	if err := killAndResume(); err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
}

func killAndResume() error {
	dir, err := os.MkdirTemp("", "resume")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	journal := filepath.Join(dir, "run.journal")
	fmt.Println("starting a run of 200 calls in another process, and killing it after 0.6 s")
	first := itself(journal)
	if err := first.Start(); err != nil {
		return err
	}
	time.Sleep(600 * time.Millisecond)
	if err := first.Process.Kill(); err != nil {
		return err
	}
	fmt.Println("killed:", eval.Printable(fmt.Sprint(first.Wait())))
	fmt.Println("starting it again, with the same journal")
	return itself(journal).Run()
}

// itself is this program, to make the run with the given journal.
func itself(journal string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "--journal", journal)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}
