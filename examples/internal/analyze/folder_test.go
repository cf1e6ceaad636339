package analyze

import (
	"path/filepath"
	"testing"
)

// Whatever is in a file, reading it ends in a result or an error, and lists by generation are no longer than the run.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/results/cp/offline/*T4_N16_seed1.json",
		"testdata/results/bandit/cp/offline/*seed1.json"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) != 1 {
			f.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		f.Add(read(f, paths[0]))
	}
	f.Add([]byte(`{"task":"cp","T":1,"N":1,"T_total":1,"bandit_seed":0,"selections":[0],"running_best":[1],"arm_results":[{"trajectory":[{"best_fitness":0}]}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parse(b)
		if err != nil {
			return
		}
		if len(r.seconds) > r.Generations() || len(r.tokens) != len(r.seconds) || len(answered(r)) != r.Generations() {
			t.Errorf("%d generations, times of %d, tokens of %d, calls of %d", r.Generations(), len(r.seconds), len(r.tokens),
				len(answered(r)))
		}
	})
}
