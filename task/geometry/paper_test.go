package geometry_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// evaluators are the papers' rules, as NumPy computes them for the outputs on its standard input. The square of a scalar is
// written as a product, because NumPy's power of a scalar need not be the nearest number.
const evaluators = `
import itertools, json, sys
import numpy as np
def area(a, b, c):
    return np.abs(a[0] * (b[1] - c[1]) + b[0] * (c[1] - a[1]) + c[0] * (a[1] - b[1])) / 2
def cp(out):
    return np.sum(np.array(out["radii"])) / 2.635
def mmd(out):
    p = np.array(out)
    d = [np.sqrt(((a - b) ** 2).sum()) for a, b in itertools.combinations(p, 2)]
    ratio = np.min(d) / np.max(d)
    return ratio * ratio / (1 / 12.889266112)
def ht(out):
    least = min(area(a, b, c) for a, b, c in itertools.combinations(np.array(out), 3))
    whole = area(np.array([0, 0]), np.array([1, 0]), np.array([0.5, np.sqrt(3) / 2]))
    return least / whole / 0.036529889880030156
for line in sys.stdin:
    key, out = json.loads(line)
    print(float({"cp": cp, "mmd": mmd, "ht": ht}[key](out)).hex())
`

// drawn returns what a program of a problem may return, all of it valid.
func drawn(r *rand.Rand, key string) any {
	switch key {
	case "cp":
		centers, radii := [][2]float64{}, []float64{}
		for i := range 26 { // one to each square of a grid
			centers = append(centers, [2]float64{float64(i%6)/6 + 1./12, float64(i/6)/6 + 1./12})
			radii = append(radii, r.Float64()/12.1)
		}
		return map[string]any{"centers": centers, "radii": radii}
	case "mmd":
		points := make([][2]float64, 16)
		for i := range points {
			points[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
		}
		return points
	}
	points := make([][2]float64, 11)
	for i := range points {
		y := r.Float64() * 0.4
		points[i] = [2]float64{0.3 + 0.4*r.Float64(), y}
	}
	return points
}

// paper_score is what the papers' evaluators return, to the last bit.
func TestPaperScores(t *testing.T) {
	interpreter, err := python.Find(t.Context(), "numpy")
	if err != nil {
		notrun.Say("task/geometry", "the papers' rules in NumPy", err, "install python3 and python3-numpy")
		notrun.Skip(t)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var input, got strings.Builder
	for range 100 {
		for _, p := range geometry.Problems() {
			out, err := json.Marshal(drawn(r, p.Key))
			if err != nil {
				t.Fatal(err)
			}
			result := p.Score(out)
			if !result.Valid {
				t.Fatalf("%s: %s: %s", p.Key, result.Reason, out)
			}
			fmt.Fprintf(&input, "[%q, %s]\n", p.Key, out)
			fmt.Fprintf(&got, "%s %v\n", p.Key, result.Metrics["paper_score"])
		}
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-c", evaluators)
	cmd.Stdin = strings.NewReader(input.String())
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := strings.Split(got.String(), "\n"), strings.Split(string(said), "\n")
	wrong := map[string]int{}
	for i, want := range theirs[:len(theirs)-1] {
		var key string
		var score, exact float64
		if _, err := fmt.Sscan(ours[i], &key, &score); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(want, &exact); err != nil {
			t.Fatal(err)
		}
		if score != exact {
			wrong[key]++
		}
	}
	if len(wrong) > 0 || len(theirs) != 301 {
		t.Errorf("of 100 outputs of each problem so many have another paper_score than NumPy computes: %v", wrong)
	}
}
