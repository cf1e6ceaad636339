package python

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// TestGeometry starts the Python programs where the JavaScript ones start, and wants the same points to
// have the same score, to the last bit, whichever language they come from.
func TestGeometry(t *testing.T) {
	runner := newTestRunner(t, Config{Workers: 1, Imports: []string{"numpy"}})
	script, err := js.New(js.Config{})
	if err != nil {
		t.Fatal(err)
	}
	starts := map[string]float64{"cp": 0.36410092663544474, "mmd": 0.007840993143994491, "ht": 0}
	for _, p := range geometry.Problems() {
		t.Run(p.Key, func(t *testing.T) {
			points, err := runner.Run(t.Context(), p.Initial["python"], p.Entry)
			if err != nil {
				t.Fatal(err)
			}
			var parsed any // NaN and Inf would not be JSON
			if err := json.Unmarshal(points, &parsed); err != nil {
				t.Fatal(err)
			}
			score := func(r eval.Runner, program string) float64 {
				res, err := eval.Scored(r, p.Entry, p.Score).Evaluate(t.Context(), program)
				if err != nil || !res.Valid {
					t.Fatalf("%+v, %v", res, err)
				}
				return res.Score
			}
			initial := score(runner, p.Initial["python"])
			if want := starts[p.Key]; math.Abs(initial-want) > 1e-14 {
				t.Errorf("the initial program has %v, want %v", initial, want)
			}
			inJS := score(script, "function "+p.Entry+"() { return "+string(points)+" }")
			inPython := score(runner, "def "+p.Entry+"(): return "+string(points))
			if math.Float64bits(inJS) != math.Float64bits(initial) || math.Float64bits(inPython) != math.Float64bits(initial) {
				t.Errorf("the same points have %v, %v in Python and %v in JavaScript: %.200s", initial, inPython, inJS,
					strings.TrimSpace(string(points)))
			}
		})
	}
}
