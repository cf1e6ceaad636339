package compare

import (
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Family is a kind of landscape. Each seed is another landscape of the kind.
type Family struct {
	Name string // in results; no two families of a study have the same
	// Make returns the problem of a seed. It is called from several goroutines at once, and each call returns a problem
	// of its own.
	Make func(seed uint64) (Problem, error)
}

// String returns the name.
func (f Family) String() string { return f.Name }

// A Problem is what a search has to solve, and what it never sees.
type Problem struct {
	Task  task.Task
	LLM   llm.LLM
	Noisy bool // the task may score the same program differently
	// True is the score that searches are compared by: without noise, on held-out cases where there are any. It is 0 for
	// a program that is not valid. No search is given it.
	True func(program string) float64
}

// Families returns all families, the same in each call but for what their seeds make. Their programs are lines of words
// or numbers, and scores are in [0, 1].
//
//	additive  32 words, each right or not by itself
//	traps     12 lines of 5 words; each single change leads away from the right line
//	hiff      64 words in blocks that have two right forms each
//	tuned     ideas that are worse than tuned ones until they are tuned
//	geometry  ten points that must be far apart
//	few       the same, with four replies to a prompt
//	regress   24 cases; a change that makes one pass makes others fail
//	noisy     evaluations with noise as large as a step
//	held-out  few cases that have quirks; what counts is all cases
//	layered   a last line that makes no difference until all others are good
//	notes     what works in one place works in others of its kind
func Families() []Family {
	var all []Family
	for _, f := range landscape.Families() {
		all = append(all, Family{f.Name, func(seed uint64) (Problem, error) {
			p, err := f.Make(seed)
			return Problem(p), err
		}})
	}
	return all
}
