// Package report makes the result files of runs (package result) of their [evolve.Result] and a [Header], which holds
// what a Result does not know, and sums a run up in text for a terminal. [NewGreedy] is of one search and [NewBandit] of a
// bandit over several.
package report

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// What a report is.
type (
	Greedy = result.Greedy
	Bandit = result.Bandit
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
	Ties    string // [result.TiesTaken], or "" if the parent stays or the search has a rule of its own
}

// A BanditHeader is what the file of a bandit says of its run that an [evolve.Result] does not know.
type BanditHeader struct {
	Header
	Algo       string   // the policy's short name, as in the file's name
	Policy     string   // what the policy's String method returns
	BanditSeed uint64   // Config.Seed
	ArmSeeds   []uint32 // by arm
	// Kinds names what kind of search each arm is, as Header.Kind does; nil means that all are greedy.
	Kinds []string
}

// setting returns what a search of t generations was run with.
func (h Header) setting(t int) result.Setting {
	m := h.Model.WithDefaults()
	return result.Setting{Kind: h.Kind, Task: h.Task, Model: m.Key, ModelName: m.Name, C: t * h.N, T: t, N: h.N,
		Breadth: h.breadth(), Ties: h.Ties}
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

// GreedyPath returns the [result.Greedy.Path] of a run that is not made yet. A program can then check that it can write
// there, and that no earlier result is there, before anything is paid for.
func (h Header) GreedyPath(seed uint32) string {
	return Greedy{Setting: h.setting(h.T), Search: result.Search{Seed: int64(seed)}}.Path()
}

// Path returns the [result.Bandit.Path] of a run that is not made yet.
func (h BanditHeader) Path() string { return h.bandit().Path() }

// bandit returns what the header says in a file.
func (h BanditHeader) bandit() Bandit {
	m := h.Model.WithDefaults()
	b := Bandit{Task: h.Task, Model: m.Key, ModelName: m.Name, Active: m.ActiveParams, Algo: h.Algo, Policy: h.Policy,
		C: h.T * h.N, T: h.T, N: h.N, Breadth: h.breadth(), Ties: h.Ties, Arms: len(h.ArmSeeds), Kinds: h.Kinds,
		BanditSeed: result.Seed(h.BanditSeed), FLOPs: result.Cost{Active: m.ActiveParams}}
	for _, seed := range h.ArmSeeds {
		b.ArmSeeds = append(b.ArmSeeds, int64(seed))
	}
	return b
}
