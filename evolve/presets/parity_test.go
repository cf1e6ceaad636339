package presets

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// recorded reads what a script of testdata/parity made of a peer's own code.
func recorded(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "parity", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// alike tests whether two tables of counts may be draws from one distribution: Pearson's χ² of homogeneity, with
// everything of which both together have less than 10 as one class. It fails at p < 10⁻⁵. The draws are from fixed
// seeds, so that it fails always or never.
func alike(t *testing.T, what string, theirs, ours map[string]int) {
	t.Helper()
	a, b := classes(theirs, ours)
	var nA, nB float64
	for i := range a {
		nA, nB = nA+a[i], nB+b[i]
	}
	chi := 0.0
	for i := range a {
		both := a[i] + b[i]
		for _, x := range [][2]float64{{a[i], both * nA / (nA + nB)}, {b[i], both * nB / (nA + nB)}} {
			if x[1] > 0 {
				chi += (x[0] - x[1]) * (x[0] - x[1]) / x[1]
			}
		}
	}
	if free := float64(len(a) - 1); free > 0 && chi > (distuv.ChiSquared{K: free}).Quantile(1-1e-5) {
		t.Errorf("%s: χ² is %.1f with %v degrees of freedom:\ntheirs %v\nours   %v", what, chi, free, theirs, ours)
	}
}

// classes returns the counts of both tables by class.
func classes(theirs, ours map[string]int) (a, b []float64) {
	all := maps.Clone(theirs)
	for k, n := range ours {
		all[k] += n
	}
	var rareA, rareB float64
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if all[k] < 10 {
			rareA, rareB = rareA+float64(theirs[k]), rareB+float64(ours[k])
			continue
		}
		a, b = append(a, float64(theirs[k])), append(b, float64(ours[k]))
	}
	if rareA+rareB > 0 {
		a, b = append(a, rareA), append(b, rareB)
	}
	return a, b
}

func programOf(text string) population.Member {
	m := population.Member{}
	m.Program = text
	return m
}
