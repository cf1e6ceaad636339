package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// A page has the samples of scores, also of parts that are read later, and nothing of them where each is of one
// evaluation.
func TestSamples(t *testing.T) {
	l := newLog("1", "")
	pull, arm := 0, 0
	l.Add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm})
	add := func(i, n int, sd float64) {
		l.Add(record.Record{Kind: record.Child, Pull: &pull, Child: &i, Step: 1,
			Proposal: books.Proposal{ID: i + 1, Valid: true, Score: 0.5, SD: sd, Samples: n, State: books.StateValid}})
	}
	add(0, 0, 0)
	first := l.State(rowCursor{})
	if text, err := json.Marshal(first.Children); err != nil || strings.Contains(string(text), "samples") ||
		strings.Contains(string(text), `"sd"`) {
		t.Errorf("one evaluation: %s, %v", text, err)
	}
	add(1, 4, 0.25)
	all := l.State(rowCursor{}).Children
	if diff := cmp.Diff([]any{[]int{0, 4}, []float64{0, 0.25}}, []any{all.Samples, all.SD}); diff != "" {
		t.Error(diff)
	}
}
