// Package report writes the results of runs as JSON files, under the names of the BaSE paper's files, so that what
// reads those reads these.
//
// [Greedy] is the file of one search and [Bandit] that of a bandit over several. Both are made from an
// [evolve.Result] and a [Header], which holds what a result does not know, and written by [Save].
// docs/results.md describes every field.
package report

import "github.com/evoalloc/evoalloc/llm"

// A Header is what a file says of its run that an [evolve.Result] does not know.
type Header struct {
	Task  string    // task.Task.Name
	Model llm.Model // what calls are charged as
	T, N  int       // the budget is T·N calls, N to a generation
}
