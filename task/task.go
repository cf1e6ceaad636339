// Package task says what there is to improve: a program to start from, a way to ask for a better
// one, a way to read the answer, and a way to score it.
package task

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// A Task is something to improve. Implementations are safe for concurrent use.
type Task interface {
	eval.Evaluator
	// Name is short and fit for a path: "cp".
	Name() string
	// Initial is the program that every search starts from.
	Initial() string
	// Prompt asks the model for one better program. Equal asks give equal prompts.
	Prompt(ask Ask) []llm.Message
	// Parse reads the program out of a reply; err says why there is none.
	Parse(reply string) (program string, err error)
}

// An Ask is what a search wants of the model.
type Ask struct {
	Parents     []eval.Candidate // best first; one for greedy
	Instruction string           // "" means: rewrite the program to raise its score
}
