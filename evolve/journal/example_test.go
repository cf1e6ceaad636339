package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// The journal is given to the run, and there is nothing else to wire. The same program, begun again, goes on.
func Example() {
	path, remove := scratch()
	defer remove()
	for _, process := range []string{"killed", "begun again"} {
		j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"task": "sum"}})
		if err != nil {
			log.Fatal(err)
		}
		ctx, kill := context.WithCancel(context.Background())
		asked := 0
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if asked++; process == "killed" && asked == 8 {
				kill()
			}
			return adder(ctx, req)
		})
		result, err := evolve.Run(ctx, evolve.Config{Arms: search(sum(), model), Budget: evolve.Budget{Calls: 20},
			Journal: j})
		if err := errors.Join(err, j.Close()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s after %d calls, of which %d now\n", process, result.Stop, result.Calls, asked)
	}
	// Output:
	// killed: canceled after 8 calls, of which 8 now
	// begun again: budget after 20 calls, of which 12 now
}

func ExampleOpen() {
	path, remove := scratch()
	defer remove()
	for _, resume := range []bool{false, true, false} {
		j, err := journal.Open(path, journal.Config{Resume: resume})
		if err != nil { // it exists, and nothing said to go on with it
			fmt.Println("not opened")
			continue
		}
		fmt.Println("opened")
		j.Close()
	}
	// Output:
	// opened
	// opened
	// not opened
}

// What decides the run beside what evolve.Run knows itself goes into the fingerprint, so that a run does not go on
// with what another began.
func ExampleConfig() {
	path, remove := scratch()
	defer remove()
	model := llm.Models()[0]
	j, err := journal.Open(path, journal.Config{Fingerprint: journal.Fingerprint{
		"task": sum().Name(), "prompt": "1", "model": model.String(), "T": "5", "N": "4", "arm seeds from": "40",
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	fmt.Println(j.Finished(), j.Lost())
	// Output: false 0
}

func ExampleFingerprint() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 2, journal.Fingerprint{"task": "sum", "model": "adder"}); err != nil {
		log.Fatal(err)
	}
	_, _, err := durable(path, 9, journal.Fingerprint{"task": "sum", "model": "another"})
	fmt.Println(errors.Is(err, journal.ErrDiverged))
	// Output: true
}

// Replay makes every decision again and compares it with the file's.
func Example_errDiverged() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 2, nil); err != nil {
		log.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder), Budget: evolve.Budget{Rounds: 7},
		Journal: j})
	fmt.Println(errors.Is(err, journal.ErrDiverged))
	// Output: true
}

// Two runs at once would mix their decisions, so the second is refused.
func Example_errInUse() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	again := func() error {
		_, err := evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder),
			Budget: evolve.Budget{Rounds: 1}, Journal: j})
		return err
	}
	observer := func(e evolve.Event) {
		if e.Kind == evolve.EventDraw {
			fmt.Println("at once:", errors.Is(again(), journal.ErrInUse))
		}
	}
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder), Budget: evolve.Budget{Rounds: 1},
		Journal: j, Observer: observer})
	fmt.Println("one after the other:", errors.Join(err, again()))
	// Output:
	// at once: true
	// one after the other: <nil>
}

// A journal is open once on a machine.
func Example_errLocked() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	_, err = journal.Open(path, journal.Config{Resume: true})
	fmt.Println(errors.Is(err, journal.ErrLocked))
	// Output: true
}

// Once the journal cannot be written, nothing is asked of the model any more: what is paid for could not be kept.
func Example_errWrite() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	asked := false
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked = true
		return adder(ctx, req)
	})
	j.Close() // stands for a full disk
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), model), Budget: evolve.Budget{Calls: 8},
		Journal: j})
	fmt.Println(errors.Is(err, journal.ErrWrite), asked)
	// Output: true false
}

// A line in the middle of the file is damaged. The sound part before it is kept, and the run goes on from there.
func ExampleSalvage() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 9, nil); err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	data[len(data)/2] ^= 1 // the disk has rotted
	if err := os.WriteFile(path, data, 0o600); err != nil {
		log.Fatal(err)
	}
	_, _, err = durable(path, 9, nil)
	fmt.Println("opened:", err == nil)
	records, damage, err := journal.Salvage(path, path+".sound")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("salvaged:", records > 20, damage != nil)
	result, asked, err := durable(path+".sound", 9, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Calls, "calls, some of them made now:", asked > 0 && asked < 20)
	// Output:
	// opened: false
	// salvaged: true true
	// 20 calls, some of them made now: true
}

func ExampleInUse() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(journal.InUse(path))
	j.Close()
	fmt.Println(journal.InUse(path))
	// Output:
	// true <nil>
	// false <nil>
}

// Whose run a file is, and whether it is over, is known without opening it.
func ExampleInspect() {
	path, remove := scratch()
	defer remove()
	for _, rounds := range []int{2, 9} { // the first is stopped after two
		if _, _, err := durable(path, rounds, journal.Fingerprint{"task": "sum"}); err != nil {
			log.Fatal(err)
		}
		s, err := journal.Inspect(path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Fingerprint, "finished:", s.Finished)
	}
	// Output:
	// map[task:sum] finished: false
	// map[task:sum] finished: true
}
