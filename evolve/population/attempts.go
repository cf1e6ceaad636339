package population

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/task"
)

// Attempts is a memory that shows the most recent attempts, oldest first, each as [Birth.Attempt] has it. It asks no
// model.
type Attempts struct {
	Most int // attempts that are shown; 0 means 5
	// OfParent shows those alone that were made of the child's parent, which are its siblings, as AdaEvolve does.
	OfParent bool

	told map[int][]string // by parent; all are under one key without OfParent
}

var _ Memory = (*Attempts)(nil)

// Validate fails if Most is negative.
func (h *Attempts) Validate() error {
	if h.Most < 0 {
		return fmt.Errorf("population: Attempts.Most is %d: need 0 for 5, or more", h.Most)
	}
	return nil
}

// of returns under which key the attempts on a parent are.
func (h *Attempts) of(parent Member) int {
	if h.OfParent {
		return parent.ID
	}
	return 0
}

// Section has a line for each attempt.
func (h *Attempts) Section(v *View) task.Section {
	return task.Attempts(slices.Clone(h.told[h.of(v.Parent)])...)
}

// Learn takes in attempts that were answered.
func (h *Attempts) Learn(_ context.Context, s *Season) error {
	if h.told == nil {
		h.told = make(map[int][]string)
	}
	for _, b := range s.Births {
		if !b.HasProgram() {
			continue
		}
		key := h.of(b.Parent)
		told := append(slices.Clone(h.told[key]), b.Attempt())
		h.told[key] = told[max(0, len(told)-cmp.Or(h.Most, 5)):]
	}
	return nil
}

// String names the memory.
func (h *Attempts) String() string {
	if h.OfParent {
		return fmt.Sprintf("Attempts(%d of the parent)", cmp.Or(h.Most, 5))
	}
	return fmt.Sprintf("Attempts(%d)", cmp.Or(h.Most, 5))
}

// Attempt says in a line what became of the child: whether it is better, the first place that it changed in its parent,
// and what it gained. What made it is left out, because models take "explore" for a request.
func (b Birth) Attempt() string {
	word := "worse"
	switch {
	case !b.Scored():
		word = "not scored"
	case !b.Result.Valid:
		word = "invalid"
	case b.Improved():
		word = "better"
	case !b.Parent.Better(b.Candidate):
		word = "as good"
	}
	return fmt.Sprintf("%s: %s; %s", word, change(b.Parent.Program, b.Program), gain(b))
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
	from := differs(old[at], now[at])
	return fmt.Sprintf("%q became %q", brief(old[at][from:]), brief(now[at][from:]))
}

// differs returns where to show two long lines from, so that the first place in which they differ is seen: at the
// second word before it. Of lines that are shown whole it returns 0.
func differs(a, b string) int {
	if max(len(a), len(b)) <= mostLine {
		return 0
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	for range 2 {
		at = strings.LastIndexByte(a[:max(at-1, 0)], ' ') + 1
	}
	return at
}

// mostLine is how many letters of a line are shown.
const mostLine = 80

// brief returns the beginning of a line.
func brief(line string) string {
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > mostLine {
		return string(runes[:mostLine]) + "..."
	}
	return string(runes)
}
