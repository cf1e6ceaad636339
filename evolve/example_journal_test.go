package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// durable runs a greedy search of at most so many rounds with the journal at path, made or gone on
// with, and returns what came of it and how many calls reached the model.
func durable(path string, rounds int, fp journal.Fingerprint) (*evolve.Result, int, error) {
	j, err := journal.Open(path, journal.Config{Fingerprint: fp, Resume: true})
	if err != nil {
		return nil, 0, err
	}
	defer j.Close()
	asked := 0
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked++
		return adder(ctx, req)
	})
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: (sum()), LLM: (llm.Limit(counted, 1)), N: 4, Seed: 40})
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, err := evolve.Run(ctx, evolve.Config{
		Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 5}, Journal: j,
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration && e.Generation.Index == rounds {
				cancel()
			}
		},
	})
	return result, asked, err
}

// scratch makes a folder for an example, which remove takes away.
func scratch() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "evolve")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "run.journal"), func() { os.RemoveAll(dir) }
}

func Example_journal() {
	path, remove := scratch()
	defer remove()
	for _, rounds := range []int{2, 9} { // stopped after two rounds, and gone on with
		result, asked, err := durable(path, rounds, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s after %d calls, of which %d now: best %v\n", result.Stop, result.Calls, asked, result.Best.Result.Score)
	}
	// Output:
	// canceled after 8 calls, of which 8 now: best -86
	// budget after 20 calls, of which 12 now: best -62
}

// An endpoint that hangs ends a run by its Stalls. Given a larger limit, the run goes on from its journal once
// the endpoint is well.
func ExampleBudget_raise() {
	path, remove := scratch()
	defer remove()
	for _, stalls := range []int{2, 20} {
		asked := 0
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if asked++; stalls == 2 && asked > 8 {
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled}}}, &llm.Error{Status: llm.Stalled, Err: errors.New("silent")}
			}
			return adder(ctx, req)
		})
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: (sum()), LLM: (llm.Limit(model, 1)), N: 4, Seed: 40})
		if err != nil {
			log.Fatal(err)
		}
		result, err := evolve.Run(context.Background(), evolve.Config{
			Arms: []evolve.Arm{g}, Journal: j, Budget: evolve.Budget{Calls: 40, Stalls: stalls},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s after %d calls, %d asked now\n", result.Limit, result.Calls, asked)
		j.Close()
	}
	// Output:
	// Stalls after 8 calls, 11 asked now
	// Calls after 40 calls, 32 asked now
}

func Example_fingerprint() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 2, journal.Fingerprint{"task": "sum", "model": "adder"}); err != nil {
		log.Fatal(err)
	}
	_, _, err := durable(path, 9, journal.Fingerprint{"task": "sum", "model": "another"})
	fmt.Println(errors.Is(err, journal.ErrDiverged))
	// Output: true
}

func Example_journalConfig() {
	path, remove := scratch()
	defer remove()
	for _, resume := range []bool{false, true, false} {
		j, err := journal.Open(path, journal.Config{Resume: resume})
		if err != nil { // it exists, and nothing said to go on with it
			fmt.Println("not opened")
			continue
		}
		fmt.Println("opened, finished:", j.Finished())
		j.Close()
	}
	// Output:
	// opened, finished: false
	// opened, finished: false
	// not opened
}

// A line in the middle of the file is damaged. The sound part before it is kept, and the run goes on from
// there.
func Example_salvage_resume() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 3, nil); err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	// What follows the report of the first generation is the draw of the second.
	before, after, _ := strings.Cut(string(text), `"kind":"report"`)
	damaged := before + `"kind":"report"` + strings.Replace(after, `"draw"`, `"drwa"`, 1)
	if err := os.WriteFile(path, []byte(damaged), 0o644); err != nil {
		log.Fatal(err)
	}
	_, _, err = durable(path, 9, nil)
	fmt.Println("opened:", err == nil)
	_, damage, err := journal.Salvage(path, path+".sound")
	fmt.Println("damage:", damage != nil, err)
	result, asked, err := durable(path+".sound", 9, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Calls, "calls, of which", asked, "now")
	// Output:
	// opened: false
	// damage: true <nil>
	// 20 calls, of which 16 now
}

// Once the journal cannot be written, nothing is asked of the model any more: what is paid for could not be
// kept.
func Example_errWrite() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	asked := false
	model := (llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked = true
		return adder(ctx, req)
	}))
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: model, N: 4})
	if err != nil {
		log.Fatal(err)
	}
	j.Close() // stands for a full disk
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 8}, Journal: j})
	fmt.Println(errors.Is(err, journal.ErrWrite), asked)
	// Output: true false
}

func Example_record() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 9, nil); err != nil {
		log.Fatal(err)
	}
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		switch r.Kind {
		case journal.Header:
			fmt.Println("of this version:", r.Version == journal.Version)
		case journal.Report:
			fmt.Println("pull", *r.Pull, "brought", r.Reward)
		case journal.Stop:
			fmt.Println("stopped by", r.Stop, r.Limit)
		}
	}
	// Output:
	// of this version: true
	// pull 0 brought -87
	// pull 1 brought -86
	// pull 2 brought -79
	// pull 3 brought -70
	// pull 4 brought -62
	// stopped by budget Rounds
}

func Example_recordKind() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 9, nil); err != nil {
		log.Fatal(err)
	}
	count := map[journal.Kind]int{}
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		count[r.Kind]++
	}
	fmt.Println(count[journal.Draw], "draws,", count[journal.Completion], "completions")
	// Output: 5 draws, 20 completions
}
