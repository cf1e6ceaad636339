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
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// annealing is a search that now and then goes on from a worse child. What it asks for follows from its
// seed and the answers, which is all that a search needs to be resumed.
type annealing struct {
	task          task.Task
	model         llm.LLM
	current, best eval.Candidate
	step          int
}

func (a *annealing) Best() eval.Candidate { return a.best }
func (a *annealing) Done() bool           { return false }

// Step makes one child and goes on from it if it is better, or with a chance that falls with the loss
// and with time.
func (a *annealing) Step(ctx context.Context) (evolve.Generation, error) {
	a.step++
	gen := evolve.Generation{Index: a.step, Parent: a.best, Best: a.best}
	child := evolve.Child{Seed: evolve.ChildSeed(1, 1, a.step, 0)}
	reply, err := evolve.Ask(ctx, a.model, llm.Request{
		Messages: a.task.Prompt(task.Ask{Parents: []eval.Candidate{a.current}}), Seed: child.Seed,
	})
	if err != nil {
		gen.Partial = true
		return gen, err
	}
	child.Attempts = reply.Attempts
	if child.Program, err = a.task.Parse(reply.Text); err != nil {
		child.Err = err.Error()
	} else if child.Result, err = evolve.EvaluateChild(ctx, a.task, child.Program); err != nil {
		return gen, err
	}
	loss := a.current.Result.Score - child.Result.Score
	luck := rand.New(rand.NewPCG(uint64(child.Seed), 0)).Float64()
	if child.Result.Valid && luck < math.Exp(-loss*float64(10+a.step)) {
		a.current = child.Candidate
	}
	if child.Better(a.best) {
		a.best = child.Candidate
	}
	gen.Best, gen.Children = a.best, []evolve.Child{child}
	return gen, nil
}

// work makes the run, or goes on with it, and says what it came to.
func work(ctx context.Context, path string) error {
	j, err := evolve.OpenJournal(path, evolve.JournalConfig{Resume: true, Fingerprint: evolve.Fingerprint{"search": "annealing"}})
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
	cp = j.Task(cp)
	start, err := evolve.Evaluate(ctx, cp)
	if err != nil {
		return err
	}
	result, err := evolve.Run(ctx, evolve.Config{
		Arms:    []evolve.Arm{&annealing{task: cp, model: j.LLM(counted), current: start, best: start}},
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
