package population

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// History returns a memory that tells of the most recent attempts, 5 if most is 0, oldest first: what made each, the first
// place that it changed, and what it gained over its parent. It asks no model.
func History(most int) Memory { return &history{most: most} }

type history struct {
	most int
	told []string
}

func (h *history) validate() error {
	if h.most < 0 {
		return fmt.Errorf("population: History(%d): need 0 for 5, or more", h.most)
	}
	return nil
}

// Notes returns a line for each attempt.
func (h *history) Notes(*View) []string { return slices.Clone(h.told) }

// Learn takes in attempts that were answered.
func (h *history) Learn(_ context.Context, s *Season) error {
	for _, b := range s.Births {
		if b.HasProgram() {
			h.told = append(h.told, attempt(b, b))
		}
	}
	h.told = slices.Clone(h.told[max(0, len(h.told)-cmp.Or(h.most, 5)):])
	return nil
}

// String names the memory.
func (h *history) String() string { return fmt.Sprintf("History(%d)", cmp.Or(h.most, 5)) }

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
