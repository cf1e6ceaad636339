package sim

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path"
	"path/filepath"
	"testing"
)

var (
	tracesDir  = flag.String("traces", "", "the folder of codeevolve.json.gz and levi.json.gz: logged scores")
	scoresFile = flag.String("scores", "", "with -traces: a file to write their scores to, for evoalloc policies --logs")
	digits     = flag.Bool("digits", false, "with -scores: write the share of six digits that are right")
)

// traces reads a file of -traces, or skips the test.
func traces(t *testing.T, name string, into any) {
	t.Helper()
	if *tracesDir == "" {
		t.Skip("not run: what needs logged scores of real models; to run it: -traces FOLDER")
	}
	f, err := os.Open(filepath.Join(*tracesDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// islands returns the gaps of the islands of each group, call by call: 1 for an invalid child.
func islands(t *testing.T) map[string][][]float64 {
	var file struct{ Groups map[string]map[string][][]any }
	traces(t, "codeevolve.json.gz", &file)
	known := map[string]float64{}
	all := map[string][][]float64{}
	for group, arms := range file.Groups {
		all[group] = make([][]float64, len(arms))
		for i, name := range []string{"0", "1", "2", "3", "4"} {
			for _, call := range arms[name] {
				score, _ := call[0].(float64)
				all[group][i] = append(all[group][i], score)
				known[path.Dir(group)] = max(known[path.Dir(group)], score)
			}
		}
	}
	for group, arms := range all {
		for _, arm := range arms {
			for n, score := range arm {
				arm[n] = max(1-score/known[path.Dir(group)], 1e-6)
			}
		}
	}
	return all
}

// TestTraces writes -scores.
func TestTraces(t *testing.T) {
	groups := islands(t)
	for _, arms := range groups {
		for _, arm := range arms {
			for n, gap := range arm {
				if arm[n] = 1 - gap; *digits {
					arm[n] = 0 - math.Log10(gap)/6
				}
			}
		}
	}
	data, err := json.Marshal(map[string]any{"groups": groups})
	if err == nil && *scoresFile != "" {
		err = os.WriteFile(*scoresFile, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
