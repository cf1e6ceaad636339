package lineage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/lineage"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A run with a journal, and the line that led to its best program.
func Example() {
	path, remove := counted()
	defer remove()
	runs, err := lineage.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	r := runs[0]
	for _, i := range r.Line(r.Best()) {
		c := r.Candidates[i]
		fmt.Printf("%-6s scores %g: %s\n", c.Name(), c.Score, c.Program)
	}
	// Output:
	// start  scores 1: x
	// 0/1.1  scores 2: x x
	// 0/2.1  scores 3: x x x
	// 0/3.0  scores 4: x x x x
}

func ExampleRead() {
	path, remove := counted()
	defer remove()
	runs, err := lineage.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs {
		fmt.Printf("task %s: %d candidates\n", r.Fingerprint["task"], len(r.Candidates))
	}
	// Output: task letters: 7 candidates
}

// crossed is a run of three children, of which the last is made from both others.
var crossed = &lineage.Run{
	Fingerprint: journal.Fingerprint{"task": "sum"},
	Candidates: []lineage.Candidate{
		{Arm: -1, Pull: -1, Program: "1", Proposal: books.Proposal{Valid: true, Score: 1}},
		{Step: 1, Parents: []int{0}, Program: "1 2", Proposal: books.Proposal{ID: 1, Valid: true, Score: 3}},
		{Step: 1, Index: 1, Parents: []int{0}, Program: "x", Proposal: books.Proposal{ID: 2, Reason: "not a number: x"}},
		{Pull: 1, Step: 2, Parents: []int{1, 2}, Program: "1 2 3",
			Proposal: books.Proposal{ID: 3, Operator: "cross", Valid: true, Score: 6}},
	},
}

func ExampleRun_WriteJSONL() {
	var b bytes.Buffer
	if err := crossed.WriteJSONL(&b); err != nil {
		log.Fatal(err)
	}
	for d := json.NewDecoder(&b); d.More(); {
		var row struct {
			Name    string
			Parents []string
			Score   *float64
			Program string
		}
		if err := d.Decode(&row); err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Name, row.Parents, row.Score != nil, row.Program)
	}
	// Output:
	// start [] true 1
	// 0/1.0 [start] true 1 2
	// 0/1.1 [start] false x
	// 0/2.0 [0/1.0 0/1.1] true 1 2 3
}

// The last commit of the stream and the branches.
func ExampleRun_WriteGit() {
	var b bytes.Buffer
	if err := crossed.WriteGit(&b, "program.txt"); err != nil {
		log.Fatal(err)
	}
	_, last, _ := strings.Cut(b.String(), "commit refs/candidates/0/2.0\n")
	fmt.Println(last)
	// Output:
	// mark :4
	// author evoalloc <evoalloc@localhost> 0 +0000
	// committer evoalloc <evoalloc@localhost> 0 +0000
	// data 107
	// 6 0/2.0 cross
	//
	// Candidate: 0/2.0
	// Arm: 0
	// Pull: 1
	// Step: 2
	// Index: 0
	// ID: 3
	// Operator: cross
	// Valid: true
	// Score: 6
	//
	// from :2
	// merge :3
	// M 100644 :8 program.txt
	//
	// reset refs/heads/best
	// from :4
	//
	// reset refs/heads/arm/0
	// from :4
	//
	// done
}

// A run of trees whose base is another folder now.
func ExampleRun_WriteTrees() {
	r := &lineage.Run{Candidates: []lineage.Candidate{{Arm: -1, Program: "base 0123456789abcdef\n"}}}
	fmt.Println(r.Base())
	fmt.Println(errors.Is(r.WriteTrees(io.Discard, "."), lineage.ErrBase))
	// Output:
	// 0123456789abcdef
	// true
}

func ExampleRun_WriteGit_file() {
	err := crossed.WriteGit(io.Discard, "../program.js")
	fmt.Println(err)
	// Output: lineage: the file name is "../program.js": need a name of letters, digits, ".", "_" and "-" that does not begin with a dot
}

func Example_errNoProgram() {
	err := new(lineage.Run).WriteGit(io.Discard, "")
	fmt.Println(errors.Is(err, lineage.ErrNoProgram))
	// Output: true
}

func ExampleRun() {
	var merges int
	for _, c := range crossed.Candidates {
		if len(c.Parents) > 1 {
			merges++
		}
	}
	fmt.Println(len(crossed.Candidates), "candidates,", merges, "with several parents")
	// Output: 4 candidates, 1 with several parents
}

func ExampleRun_Best() {
	fmt.Println(crossed.Candidates[crossed.Best()].Program)
	// Output: 1 2 3
}

func ExampleRun_Line() {
	for _, i := range crossed.Line(crossed.Best()) {
		fmt.Println(crossed.Candidates[i].Name())
	}
	// Output:
	// start
	// 0/1.0
	// 0/2.0
}

// Without the invalid child, the cross has what that was made from as a parent.
func ExampleRun_Without() {
	r := crossed.Without(func(c lineage.Candidate) bool { return !c.Valid })
	for _, p := range r.Candidates[2].Parents {
		fmt.Println(r.Candidates[p].Name())
	}
	// Output:
	// 0/1.0
	// start
}

func ExampleCandidate() {
	c := crossed.Candidates[2]
	fmt.Println(c.Name(), c.Valid, c.Reason)
	// Output: 0/1.1 false not a number: x
}

func ExampleCandidate_Name() {
	fmt.Println(lineage.Candidate{Arm: 2, Step: 7, Index: 3}.Name(), lineage.Candidate{Arm: 2}.Name(),
		lineage.Candidate{Arm: -1}.Name())
	// Output: 2/7.3 2/start start
}

// counted makes a short run and returns its journal: children add a word to their parent, and longer is better.
func counted() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "lineage")
	if err != nil {
		log.Fatal(err)
	}
	length := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		return eval.Result{Valid: true, Score: float64(strings.Count(program, "x"))}, nil
	})
	letters, err := task.New(task.Spec{Name: "letters", System: "Add a word.", Initial: "x", Evaluator: length})
	if err != nil {
		log.Fatal(err)
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "")
		return llm.Reply{Text: "```\n" + strings.TrimSpace(program) + " x\n```", Attempts: []llm.Attempt{{Status: llm.OK}}},
			err
	})
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: letters, LLM: model, N: 2, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "run.journal")
	j, err := journal.Open(path, journal.Config{Fingerprint: journal.Fingerprint{"task": "letters"}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 3},
		Journal: j})
	if err := errors.Join(err, j.Close()); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}
