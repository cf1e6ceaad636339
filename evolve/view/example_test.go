package view_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/evolve/view"
)

// One file that anyone can open. The same page makes the same bytes.
func ExampleReport() {
	run, err := view.ReadJournal(context.Background(), "testdata/small.journal", "small")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := view.Report(&file, view.Page{Title: "A small run", Runs: []view.Run{run}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(file.Bytes(), []byte("<title>A small run</title>")))
	// Output:
	// true
}

// A result file shows a run too, without programs.
func ExampleReadResult() {
	run, err := view.ReadResult("../testdata/greedy.json", "greedy")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := view.Report(&file, view.Page{Title: run.Name, Runs: []view.Run{run}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(file.Bytes(), []byte("<title>greedy</title>")))
	// Output:
	// true
}
