package evolve_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A journal that was written before children had addresses, and draws a ledger, is read, and its run goes on from
// wherever it was killed to the result that it has without a journal.
func TestOlderJournal(t *testing.T) {
	data, err := os.ReadFile("testdata/before_addresses.journal")
	if err != nil {
		t.Fatal(err)
	}
	cfg := evolve.Config{Policy: &bandit.UCB1{C: 1}, Reward: evolve.RawScore, Budget: evolve.Budget{Calls: 18}, Seed: 3}
	cfg.Arms = earlierGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: 3, Seed: 40}, 2)
	want := mustRun(t, cfg)
	lines := bytes.SplitAfter(data, []byte("\n"))
	for _, kept := range []int{1, 4, 30, 57, 88, len(lines)} {
		path := filepath.Join(t.TempDir(), "run.journal")
		if err := os.WriteFile(path, bytes.Join(lines[:kept], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"task": "numbers"}})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Policy, cfg.Arms, cfg.Journal = &bandit.UCB1{C: 1},
			earlierGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: 3, Seed: 40}, 2), j
		got := mustRun(t, cfg)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got.Calls != want.Calls || got.Stop != want.Stop || !reflect.DeepEqual(got.Best, want.Best) ||
			!reflect.DeepEqual(got.Rounds, want.Rounds) {
			t.Errorf("%d lines kept: %d calls, %s, best %v, want %d, %s, %v", kept, got.Calls, got.Stop, got.Best, want.Calls,
				want.Stop, want.Best)
		}
		n := 0
		for _, err := range record.Read(path) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < kept {
			t.Errorf("%d lines kept: %d records read", kept, n)
		}
	}
}
