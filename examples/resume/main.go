// Resume shows a run that is killed half-way and goes on where it was. The program starts itself as another
// process, kills that without warning, starts it again, and says how many calls the second process had to make.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// work makes the run, or goes on with it: the journal knows what was answered. The searches know nothing of it.
func work(path string) {
	j := must(journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"search": "four from 40"}}))
	defer j.Close()
	made := 0
	stand := must(offline.New(offline.Config{Latency: 5 * time.Millisecond}))
	counted := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		made++ // one call at a time
		return stand.Generate(ctx, req)
	}), 1)
	cp := must(geometry.CirclePacking().Task(must(js.New(js.Config{})), "javascript"))
	result := must(evolve.Run(context.Background(), evolve.Config{
		Arms:    must(evolve.GreedyArms(evolve.GreedyConfig{Task: cp, LLM: counted, N: 4, Seed: 40}, 4)),
		Policy:  &bandit.Challenge{T: 200},
		Journal: j, Budget: evolve.Budget{Calls: 200},
	}))
	fmt.Printf("best %.6f after %d calls, of which this process made %d (%d had been under way at a kill)\n",
		result.Best.Result.Score, result.Calls, made, j.Lost())
}

func main() {
	if len(os.Args) > 1 { // as the other process
		work(os.Args[1])
		return
	}
	dir := must(os.MkdirTemp("", "resume"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.journal")
	fmt.Println("starting a run of 200 calls in another process, and killing it once its journal has 50 kB")
	first := itself(path)
	check(first.Start())
	for info, err := os.Stat(path); err != nil || info.Size() < 50_000; info, err = os.Stat(path) {
		time.Sleep(5 * time.Millisecond)
	}
	check(first.Process.Kill())
	fmt.Println("killed:", eval.Printable(fmt.Sprint(first.Wait())))
	fmt.Println("starting it again, with the same journal")
	check(itself(path).Run())
}

// itself is this program, to make the run with a journal.
func itself(journal string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], journal)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
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
