package layers_test

import (
	"encoding/json"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// layeredRun makes or resumes a run of two layered searches under one budget, and returns its result.
func layeredRun(t testing.TB, path string, l llm.LLM) (data []byte, arms []*layers.Layers) {
	t.Helper()
	var searches []evolve.Arm
	for seed := range uint32(2) {
		a := newLayers(t, config(t, l, 42+seed))
		arms, searches = append(arms, a), append(searches, a)
	}
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: searches, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 76}, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	if data, err = json.MarshalIndent(report.NewBandit(res, report.BanditHeader{ArmSeeds: []uint32{42, 43}}), "",
		" "); err != nil {
		t.Fatal(err)
	}
	return data, arms
}

// A run is killed after each record of its journal, and resumed.
func TestKilled(t *testing.T) {
	var sent atomic.Int64
	model := counted(llm.Func(writer), &sent)
	whole := filepath.Join(t.TempDir(), "run.journal")
	want, arms := layeredRun(t, whole, model)
	for _, a := range arms {
		if a.Pool() == nil || !a.Promoted() {
			t.Fatal("the run does not come to combinations, so the test does not see them")
		}
	}
	most := sent.Swap(0)
	for cut := range killtest.About(t, whole, 1, 60) {
		got, _ := layeredRun(t, cut.Path, model)
		answered := int64(cut.Count("completion"))
		if n := sent.Swap(0); n > most-answered {
			t.Errorf("with %d answers in the journal it sends %d calls of %d", answered, n, most)
		}
		if diff := cmp.Diff(killtest.Comparable(t, want), killtest.Comparable(t, got)); diff != "" {
			t.Fatalf("killed after record %d, it comes to another result:\n%.3000s", cut.Records, diff)
		}
	}
}
