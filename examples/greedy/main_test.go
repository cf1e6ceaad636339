package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func TestRunSavesItsResult(t *testing.T) {
	for task, start := range map[string]float64{"cp": 0.364101, "mmd": 0.007841, "ht": 0} {
		dir := t.TempDir()
		if err := run(t.Context(), strings.Fields("--T 4 --N 16 --offline-latency 0 --seed 41 --task "+task+" --output "+dir)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, task, "offline", "greedy_C64_T4_N16_seed41.json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r report.Greedy
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Trajectory) != 5 || r.Trajectory[0].BestFitness < start-1e-6 || r.Trajectory[0].BestFitness > start+1e-6 || r.FinalFitness <= start {
			t.Errorf("%s: %d rows from %v to %v", task, len(r.Trajectory), r.Trajectory[0].BestFitness, r.FinalFitness)
		}
	}
}

func TestBadSeed(t *testing.T) {
	var usage *cli.UsageError
	if err := run(t.Context(), []string{"--seed", "4294967296"}); !errors.As(err, &usage) {
		t.Errorf("error %v, want a usage error", err)
	}
}
