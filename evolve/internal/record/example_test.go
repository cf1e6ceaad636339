package record_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A journal under a program of another kind than evolve.Run: what is answered is written under the identity of
// what was asked, and recalled by it in the next process.
func ExampleJournal() {
	path, remove := scratch()
	defer remove()
	for range 2 {
		j, err := record.Open(path, record.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		id := j.Claim(record.KeyOf("what is 6 times 7?"))
		r, _, err := j.Recall(id, false)
		if err != nil {
			log.Fatal(err)
		}
		if r == nil {
			fmt.Println("asking")
			r = &record.Record{Kind: record.Completion, Reply: &llm.Reply{Text: "42"}}
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
	j, err := record.Open(path, record.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	key := record.KeyOf("a judge", "a program")
	first, second := j.Claim(key), j.Claim(key)
	fmt.Println(first.Key == second.Key, first.N, second.N)
	// Output: true 0 1
}

func ExampleKeyOf() {
	fmt.Println(record.KeyOf("a", "bc") == record.KeyOf("ab", "c"))
	fmt.Println(record.KeyOf("a", "bc").String()[:12])
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
		j, err := record.Open(path, record.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		past := j.Past()
		for _, r := range []record.Record{
			{Kind: record.Draw, Pull: &pull, Arm: &arm, Prob: 0.25},
			{Kind: record.Report, Pull: &pull, Reward: 0.5},
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

// A page that shows a run reads its journal while it is written, draws when it has caught up, and waits for more.
func ExampleFollow() {
	path, remove := scratch()
	defer remove()
	if err := finished(path); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	children := 0
	for r, err := range record.Follow(ctx, path) {
		if err != nil {
			log.Fatal(err)
		}
		switch r.Kind {
		case record.Child:
			children++
		case record.CaughtUp:
			fmt.Println(children, "children so far")
			stop() // or wait for the next record, which another process may write
		}
	}
	// Output:
	// 20 children so far
}
