package layers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

var times = regexp.MustCompile(`"(gen_time_s|wall_time_seconds|latency_s)": ?[-+.e0-9]+`)

// layeredRun makes or resumes a run of two layered searches under one budget, and returns its result without times.
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
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: searches, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Calls: 76}, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	if data, err = json.MarshalIndent(report.NewBandit(res, report.BanditHeader{ArmSeeds: []uint32{42, 43}}), "", " "); err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAll(data, []byte(`"$1": 0`)), arms
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
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n := 1; n < len(lines); n += 1 + len(lines)/60 {
		path := filepath.Join(t.TempDir(), "run.journal")
		if err := os.WriteFile(path, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _ := layeredRun(t, path, model)
		answered := int64(bytes.Count(bytes.Join(lines[:n], nil), []byte(`"kind":"completion"`)))
		if n := sent.Swap(0); n > most-answered {
			t.Errorf("with %d answers in the journal it sends %d calls of %d", answered, n, most)
		}
		if diff := cmp.Diff(withoutLives(t, want), withoutLives(t, got)); diff != "" {
			t.Fatalf("killed after record %d, it comes to another result:\n%.3000s", n, diff)
		}
	}
}

// withoutLives returns a result without what calls cost that were lost at a kill.
func withoutLives(t testing.TB, data []byte) any {
	var x map[string]any
	if err := json.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	delete(x, "all_lives")
	return x
}
