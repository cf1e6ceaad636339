// Package report writes the results of runs as JSON files, under the names of the BaSE paper's files, so that what
// reads those reads these.
//
// [Greedy] is the file of one search and [Bandit] that of a bandit over several. Both are made from an
// [evolve.Result] and a [Header], which holds what a result does not know, and written by [Save].
// docs/reference.md says where in a file each type stands.
package report

import (
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/llm"
)

// A Header is what a file says of its run that an [evolve.Result] does not know.
type Header struct {
	Task  string      // task.Task.Name
	Model llm.Model   // what calls are charged as
	Asked []llm.Model // the models that may be asked, with their prices; nil means Model
	T, N  int         // the budget is T·N calls, N to a generation
	// Kind names what kind of search it is, as in the file's name: letters, digits and hyphens. "" means greedy.
	Kind string
	// Breadth is what decided how many children each generation had, at most N; nil means N in each. With one,
	// how many generations the T·N calls made is the number of rows.
	Breadth evolve.Breadth
	Ties    string // [TiesTaken], or "" if the parent stays or the search has a rule of its own
}

// money returns what the calls of a run cost, or nil if the price of a model is not known.
func (h Header) money(r *evolve.Result) *float64 {
	models := h.Asked
	if models == nil {
		models = []llm.Model{h.Model}
	}
	if !priced(models) {
		return nil
	}
	t := history.Prices(models).Tally(paid(r, h.Model.MaxTokens))
	return &t.Spent.Money
}

// breadth returns how the Breadth prints itself, or else its type, and "" without one.
func (h Header) breadth() string {
	switch b := h.Breadth.(type) {
	case nil:
		return ""
	case fmt.Stringer:
		return b.String()
	}
	return fmt.Sprintf("%T", h.Breadth) // its fields may print otherwise in every process
}

// breadthTag is what a breadth adds to a file's name: "_adaptive" for Adaptive(second=0, waste=0.15, 1..64, kept).
func breadthTag(breadth string) string {
	name, _, _ := strings.Cut(breadth, "(")
	name = name[strings.LastIndex(name, ".")+1:] // of a type the name alone
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1 // it may be a user's, and a file's name must not lead elsewhere
	}, strings.ToLower(name))
	switch {
	case breadth == "":
		return ""
	case name == "":
		name = "breadth"
	}
	return "_" + name
}
