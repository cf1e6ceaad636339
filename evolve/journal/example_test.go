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
		result, err := evolve.Run(ctx, evolve.Config{Arms: search(sum(), model), Budget: evolve.Budget{Calls: 20}, Journal: j})
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
	fmt.Println(j.Finished(), j.Lost(), j.Err())
	// Output: false 0 <nil>
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
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder), Budget: evolve.Budget{Rounds: 7}, Journal: j})
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
		_, err := evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder), Budget: evolve.Budget{Rounds: 1}, Journal: j})
		return err
	}
	observer := func(e evolve.Event) {
		if e.Kind == evolve.EventDraw {
			fmt.Println("at once:", errors.Is(again(), journal.ErrInUse))
		}
	}
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder), Budget: evolve.Budget{Rounds: 1}, Journal: j, Observer: observer})
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
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), model), Budget: evolve.Budget{Calls: 8}, Journal: j})
	fmt.Println(errors.Is(err, journal.ErrWrite), asked)
	// Output: true false
}

func ExampleRead() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 9, nil); err != nil {
		log.Fatal(err)
	}
	bytes := 0
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		if r.Kind == journal.Completion {
			bytes += len(r.Reply.Text)
		}
	}
	fmt.Println(bytes, "bytes of text are paid for")
	// Output: 380 bytes of text are paid for
}

func ExampleRecord() {
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

// The file tells where each child comes from.
func ExampleRecord_child() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 2, nil); err != nil {
		log.Fatal(err)
	}
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		if r.Kind == journal.Child && *r.Child == 0 {
			fmt.Printf("pull %d: child %d of %v scores %v\n", *r.Pull, r.ID, r.Parents, r.Score)
		}
	}
	// Output:
	// pull 0: child 1 of [0] scores -87
	// pull 1: child 5 of [3] scores -87
}

// What became of the children, and what the run had spent by its end. Equal programs are evaluated
// once.
func ExampleLedger() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 9, nil); err != nil {
		log.Fatal(err)
	}
	states := map[journal.State]int{}
	var spent journal.Amounts
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		if r.Kind == journal.Child {
			states[r.State]++
		}
		if r.Ledger != nil {
			spent = r.Ledger.Spent
		}
	}
	fmt.Println(states[journal.StateValid], "valid,", spent.Calls, "calls,", spent.Evaluations, "evaluations")
	// Output: 20 valid, 20 calls, 16 evaluations
}

// The record of a run names its searches and its models.
func ExampleArm() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{Command: "sum --rounds 1"})
	if err != nil {
		log.Fatal(err)
	}
	budget := evolve.Budget{Rounds: 1, Models: []llm.Model{{Key: "small", ActiveParams: 8e9, Price: &llm.Price{Prompt: 0.1, Cached: 0.02, Completion: 0.4}}}}
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(sum(), adder), Budget: budget, Journal: j})
	if err := errors.Join(err, j.Close()); err != nil {
		log.Fatal(err)
	}
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		switch r.Kind {
		case journal.Incarnation:
			fmt.Println(r.Command)
		case journal.Run:
			fmt.Println(r.Arms[0].Name, "with seed", *r.Arms[0].Seed)
			fmt.Printf("%s, %d parameters, %v for a million new tokens\n", r.Models[0].Key, r.Models[0].ActiveParams, r.Models[0].Price.Completion)
		case journal.Start:
			fmt.Println("begins with a score of", r.Score)
		}
	}
	// Output:
	// sum --rounds 1
	// Greedy(sum, N=4, seed=40, neutral) with seed 40
	// small, 8000000000 parameters, 0.4 for a million new tokens
	// begins with a score of -94
}

func ExampleKind() {
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

// Calls that a run gave up are made again, and what they cost stands beside the result.
func ExampleEarlier() {
	path, remove := scratch()
	defer remove()
	var result *evolve.Result
	for process := range 2 {
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if process == 0 {
				stop() // Ctrl-C
				<-ctx.Done()
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 1000}}}, ctx.Err()
			}
			return adder(ctx, req)
		})
		result, err = evolve.Run(ctx, evolve.Config{Arms: search(sum(), model), Budget: evolve.Budget{Rounds: 2}, Journal: j})
		if err := errors.Join(err, j.Close()); err != nil {
			log.Fatal(err)
		}
	}
	for _, call := range result.Earlier.Abandoned { // in no generation of the result
		fmt.Println("given up:", call[0].Status)
	}
	fmt.Println("lost:", len(result.Earlier.Lost), "not asked for again:", len(result.Earlier.Unclaimed))
	// Output:
	// given up: canceled
	// lost: 0 not asked for again: 0
}

// A journal under a program of another kind than evolve.Run: what is answered is written under the identity of
// what was asked, and recalled by it in the next process.
func ExampleJournal() {
	path, remove := scratch()
	defer remove()
	for range 2 {
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		id := j.Claim(journal.KeyOf("what is 6 times 7?"))
		r, err := j.Recall(id, false)
		if err != nil {
			log.Fatal(err)
		}
		if r == nil {
			fmt.Println("asking")
			r = &journal.Record{Kind: journal.Completion, Reply: &llm.Reply{Text: "42"}}
			if err := j.Write(id, *r); err != nil { // it is on disk now
				log.Fatal(err)
			}
		}
		fmt.Println(r.Reply.Text)
		j.Close()
	}
	// Output:
	// asking
	// 42
	// 42
}

// The same asked again is another effect.
func ExampleID() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	key := journal.KeyOf("a judge", "a program")
	first, second := j.Claim(key), j.Claim(key)
	fmt.Println(first.Key == second.Key, first.N, second.N)
	// Output: true 0 1
}

func ExampleKeyOf() {
	fmt.Println(journal.KeyOf("a", "bc") == journal.KeyOf("ab", "c"))
	fmt.Println(journal.KeyOf("a", "bc").String()[:12])
	// Output:
	// false
	// 5310a5878878
}

// Decisions are made again in the same order, and compared. What the file tells of a pull is known when it is drawn.
func ExamplePast() {
	path, remove := scratch()
	defer remove()
	pull, arm := 0, 2
	for range 2 {
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		past := j.Past()
		for _, r := range []journal.Record{
			{Kind: journal.Draw, Pull: &pull, Arm: &arm, Prob: 0.25},
			{Kind: journal.Report, Pull: &pull, Reward: 0.5},
		} {
			if err := j.Decide(r); err != nil {
				log.Fatal(err)
			}
		}
		_, replaying := j.Next()
		fmt.Println("ended before:", past.Ended, "replaying still:", replaying)
		j.Close()
	}
	// Output:
	// ended before: false replaying still: false
	// ended before: true replaying still: false
}

// What an evaluator asks of a model stands in the record of its evaluation.
func ExampleAsked() {
	path, remove := scratch()
	defer remove()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := evolve.Run(context.Background(), evolve.Config{Arms: search(judged(), adder), Budget: evolve.Budget{Rounds: 1}, Journal: j}); err != nil {
		log.Fatal(err)
	}
	j.Close()
	evaluations, calls := 0, 0
	for r, err := range journal.Read(path) {
		if err != nil {
			log.Fatal(err)
		}
		if r.Kind == journal.Evaluation {
			evaluations++
			calls += len(r.Asked)
		}
	}
	fmt.Println(calls == evaluations, calls > 0)
	// Output: true true
}

// A page that shows a run reads its journal while it is written, draws when it has caught up, and waits for more.
func ExampleFollow() {
	path, remove := scratch()
	defer remove()
	if _, _, err := durable(path, 5, nil); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	children := 0
	for r, err := range journal.Follow(ctx, path) {
		if err != nil {
			log.Fatal(err)
		}
		switch r.Kind {
		case journal.Child:
			children++
		case journal.CaughtUp:
			fmt.Println(children, "children so far")
			stop() // or wait for the next record, which another process may write
		}
	}
	// Output:
	// 20 children so far
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
