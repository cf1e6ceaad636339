// Package task defines what to improve: a program to start from, a way to ask for a better one, a way to read the
// answer, and a way to score it.
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
	// Prompt asks the model for one better program. Equal requests give equal prompts.
	Prompt(ask Request) []llm.Message
	// Parse reads the program out of a reply; err says why there is none.
	Parse(reply string) (program string, err error)
}

// A Request is what a search asks of a model: one program, made of others.
type Request struct {
	// Parents are the programs to build on, the one to change first; greedy search has one. The others are sources of
	// ideas.
	Parents []eval.Candidate
	// Sections are what else the prompt shows. Read them with Shown.
	Sections []Section
	// Bounds are the most tokens that each may take, in place of their own; nil means their own. See [WithBounds].
	Bounds      Bounds
	Instruction string // "" means: rewrite the program to raise its score
	Form        Form   // of the reply; 0 means the task's own
	// Part names the part of the first parent to change; "" means all of it. The reply must be the new text of that part
	// alone, which the ParseReply of a [Partitioner] reads.
	Part string
}

// A Partitioner is a [ReplyParser] whose programs consist of named parts, which a search can change one at a time
// ([Request].Part). Find it with [As].
type Partitioner interface {
	// PartNames returns the distinct names of a program's parts in order, at least one.
	PartNames(program string) []string
}
