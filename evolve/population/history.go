package population

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// History is a memory that tells of the most recent attempts, oldest first: what made each, the first place that it
// changed, and what it gained over its parent. It asks no model.
type History struct {
	Most int // attempts told of; 0 means 5
	// OfParent tells of those alone that were made of the child's parent, as AdaEvolve does. Most are told of each of
	// the 1,000 parents that were used last.
	OfParent bool

	told    map[int][]string // by parent; all are under one key without OfParent
	parents []int            // used last, oldest first
}

var _ Memory = (*History)(nil)

// maxParents is of how many parents a History tells.
const maxParents = 1000

func (h *History) validate() error {
	if h.Most < 0 {
		return fmt.Errorf("population: History.Most is %d: need 0 for 5, or more", h.Most)
	}
	return nil
}

// of returns under which key the attempts on a parent are.
func (h *History) of(parent *Member) int {
	if h.OfParent {
		return parent.ID
	}
	return 0
}

// Notes returns a line for each attempt.
func (h *History) Notes(v *View) []string { return slices.Clone(h.told[h.of(v.Parent)]) }

// Learn takes in attempts that were answered.
func (h *History) Learn(_ context.Context, s *Season) error {
	if h.told == nil {
		h.told = make(map[int][]string)
	}
	for _, b := range s.Births {
		if !b.HasProgram() {
			continue
		}
		key := h.of(b.Parent)
		told := append(slices.Clone(h.told[key]), attempt(b, b))
		h.told[key] = told[max(0, len(told)-cmp.Or(h.Most, 5)):]
		if i := slices.Index(h.parents, key); i >= 0 {
			h.parents = slices.Delete(h.parents, i, i+1)
		}
		if h.parents = append(h.parents, key); len(h.parents) > maxParents {
			delete(h.told, h.parents[0])
			h.parents = h.parents[1:]
		}
	}
	return nil
}

// String names the memory.
func (h *History) String() string {
	if h.OfParent {
		return fmt.Sprintf("History(%d of the parent)", cmp.Or(h.Most, 5))
	}
	return fmt.Sprintf("History(%d)", cmp.Or(h.Most, 5))
}

// attempt says in a line what a child changed, and what became of the one that outcome is of.
func attempt(b, outcome Birth) string {
	return fmt.Sprintf("%s: %s; %s", cmp.Or(b.Operator, "rewrite"), change(b.Parent.Program, b.Program), gain(outcome))
}

// gain says what a child gained over its parent.
func gain(b Birth) string {
	switch {
	case !b.Scored():
		return bounded(b.Err)
	case !b.Result.Valid:
		return "invalid: " + bounded(b.Result.Reason)
	case !b.Parent.Result.Valid:
		return fmt.Sprintf("score %.6g, and its parent was invalid", b.Result.Score)
	}
	return fmt.Sprintf("score %.6g, %+.3g over its parent", b.Result.Score, b.Result.Score-b.Parent.Result.Score)
}

// change says which lines differ first between two programs.
func change(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	at := 0
	for at < min(len(old), len(now)) && old[at] == now[at] {
		at++
	}
	switch {
	case at == len(old) && at == len(now):
		return "changed nothing"
	case at == len(old):
		return fmt.Sprintf("added %q", brief(now[at]))
	case at == len(now):
		return fmt.Sprintf("deleted %q", brief(old[at]))
	}
	return fmt.Sprintf("%q became %q", brief(old[at]), brief(now[at]))
}

// brief returns the beginning of a line.
func brief(line string) string {
	const most = 80
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return string(runes)
}
