package layers

import (
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

func TestRegressFails(t *testing.T) {
	pool := []eval.Candidate{candidate("a", 1, 2)}
	for _, c := range []struct {
		pool     []eval.Candidate
		features [][]float64
		want     string
	}{
		{nil, [][]float64{{1}, {2}}, "empty pool"},
		{pool, nil, "without features"},
		{pool, [][]float64{{}, {}}, "without features"},
		{pool, [][]float64{{1, 2}, {3}}, "[3] in row 1: need 2"},
		{pool, [][]float64{{1}, {math.Inf(1)}}, "[+Inf] in row 1"},
		{pool, [][]float64{{1}, {2}, {3}}, "base 0 with cases [1 2]: need 3"},
		{pool, [][]float64{{1e200}, {1e200}}, "about as large as 1"},
		{append(pool, candidate("b", 1, math.NaN())), [][]float64{{1}, {2}}, "base 1 with cases [1 NaN]"},
		{append(pool, candidate("b")), [][]float64{{1}, {2}}, "base 1 with cases []"},
	} {
		if w, err := Regress(c.pool, c.features); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("of %d bases and %v it returns %v and %v, expected %q", len(c.pool), c.features, w, err, c.want)
		}
	}
}

// Scores that are linear are met, and of the kinds of cases each is given to the base that is the best there.
func TestRegressMeetsScores(t *testing.T) {
	features := [][]float64{{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {1, 1, 0}}
	pool := []eval.Candidate{candidate("all", 5, 5, 5, 5), candidate("second", 1, 8, 2, 6), candidate("third", 2, 2, 9, 2)}
	weights, err := Regress(pool, features)
	if err != nil {
		t.Fatal(err)
	}
	best := []int{0, 1, 2, 1}
	met := [][]float64{{5, 5, 5, 5}, {1, 7, 2, 7}, {2, 2, 9, 2}}
	for i, f := range features {
		at, most := -1, math.Inf(-1)
		for k, w := range weights {
			sum := w[0]*f[0] + w[1]*f[1] + w[2]*f[2]
			if math.Abs(sum-met[k][i]) > 0.02 {
				t.Errorf("base %d at case %d comes to %v, expected %v", k, i, sum, met[k][i])
			}
			if sum > most {
				at, most = k, sum
			}
		}
		if at != best[i] {
			t.Errorf("case %d is given to base %d, expected %d", i, at, best[i])
		}
	}
}

// A column that never varies leaves an answer, and a small one.
func TestRegressOfEqualColumns(t *testing.T) {
	w, err := Regress([]eval.Candidate{candidate("a", 2, 2)}, [][]float64{{1, 1, 0}, {1, 1, 0}})
	if err != nil || math.Abs(w[0][0]-1) > 0.01 || math.Abs(w[0][1]-1) > 0.01 || w[0][2] != 0 {
		t.Errorf("it returns %v and %v", w, err)
	}
}
