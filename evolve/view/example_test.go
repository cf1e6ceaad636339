package view_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/view"
)

// A journal of two searches, five rounds, as a page shows it.
func ExampleLog() {
	l := view.NewLog("1", "small")
	for r, err := range journal.Read("testdata/small.journal") {
		if err != nil {
			log.Fatal(err)
		}
		l.Add(r)
	}
	s := l.State(view.Cursor{})
	for _, f := range s.Facts[2:6] {
		fmt.Printf("%s: %s\n", f.Name, f.Value)
	}
	fmt.Println(len(s.Children.ID), "children,", len(s.Rounds.Arm), "rounds")
	for _, step := range s.Line {
		fmt.Println(step.Score, step.Operator)
	}
	news := l.State(s.Next) // what a live page asks for next
	fmt.Println(len(news.Children.ID), "new children")
	// Output:
	// Searches: 2
	// Best score: -71
	// Stopped: the rounds of the budget were used up
	// Calls: 18 answered
	// 20 children, 5 rounds
	// -94 initial
	// -87 rewrite
	// -80 rewrite
	// -71 rewrite
	// 0 new children
}

// The text of a program, and how one differs from another.
func ExampleLog_Diff() {
	l := view.NewLog("1", "small")
	l.SetSource(view.Texts("testdata/small.journal")) // of what the Log does not keep
	for r, err := range journal.Read("testdata/small.journal") {
		if err != nil {
			log.Fatal(err)
		}
		l.Add(r)
	}
	line := l.State(view.Cursor{}).Line
	code, ok := l.Program(line[0].Program)
	fmt.Println(code.Text, ok)
	for _, c := range l.Diff(line[0].Program, line[1].Program) {
		fmt.Print(c.Op, c.Text)
	}
	// Output:
	// 1 2 3 true
	// -1 2 3
	// +1 2 3 7
}

// One file that anyone can open. The same page makes the same bytes.
func ExampleReport() {
	l := view.NewLog("1", "small")
	l.SetLive(false) // nobody works on the run: without an end it would be one that was killed
	for r, err := range journal.Read("testdata/small.journal") {
		if err != nil {
			log.Fatal(err)
		}
		l.Add(r)
	}
	var file bytes.Buffer
	page := view.Page{Title: "A small run", Runs: []view.State{l.Saved()}}
	if err := view.Report(&file, page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Runs[0].Programs), "programs,", page.Runs[0].Omitted, "left out")
	fmt.Println(bytes.Contains(file.Bytes(), []byte("<title>A small run</title>")))
	// Output:
	// 11 programs, 0 left out
	// true
}

// A result file shows a run too, without programs.
func ExampleFromResult() {
	data, err := os.ReadFile("../testdata/greedy.json")
	if err != nil {
		log.Fatal(err)
	}
	s, err := view.FromResult("1", "greedy", data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Status, len(s.Children.ID), "children")
	for _, e := range s.Endpoints {
		fmt.Println(e.Name, e.Statuses)
	}
	// Output:
	// over 6 children
	// the endpoint map[error: rate_limit:2 ok:2 stalled:1 timeout:1]
	// http://localhost:1/v1 map[ok:2]
}
