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
	// Parents are what the program is made from, the one to be changed first; one for greedy. The others are there
	// to take from.
	Parents []eval.Candidate
	// Inspirations are shown beside the parents, in this order, and are not to be changed. Each takes as many
	// tokens of the prompt as a parent does.
	Inspirations []eval.Candidate
	// Hints[i] is what was seen in the text of Parents[i], or where there are no parents in that of the initial program;
	// nil means nothing. See [WithHints].
	Hints       [][]Hint
	Notes       []string // on what earlier attempts have shown, one thought each
	Instruction string   // "" means: rewrite the program to raise its score
	// Form is how the reply has to give the program; 0 means as the task does by itself. It is to be read by [ParseAs]
	// then.
	Form Form
	// Part names the part of the first parent that is to be changed; "" means all of it. The reply has to be the new text
	// of that part alone, and is to be read by the ParsePart of a [Partitioner].
	Part string
}
