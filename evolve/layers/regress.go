package layers

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/evoalloc/evoalloc/eval"
)

// ridge is added to the sums of squares of features.
const ridge = 0.001

var errApart = errors.New("layers: Regress cannot tell the columns of features apart: " +
	"need values that are about as large as 1")

// Regress returns for each base of a pool the weights w with which Σⱼ wⱼ·features[i][j] comes nearest to what the base
// scores at case i, by least squares of the Result.Cases that stage one has found. So it costs no call and no
// evaluation. The base with the highest sum is the one that is expected to be the best where the features are those,
// which makes the weights a router, or what the search for one begins with.
//
// features has a row for each case, and a column of ones in it makes an intercept. A ridge of 0.001 picks the smaller
// weights where several would do, as with columns that do not vary; so columns should be neither much larger nor much
// smaller than 1. It fails if the pool is empty, if a base has not one finite score for each row, or if rows are not
// equally long, at least 1, and finite.
//
// Algorithms are chosen by regressions of how each does on features of an instance by K. Leyton-Brown, E. Nudelman,
// G. Andrew, J. McFadden, Y. Shoham, "A portfolio approach to algorithm selection", 2003.
func Regress(pool []eval.Candidate, features [][]float64) ([][]float64, error) {
	if len(pool) == 0 {
		return nil, errors.New("layers: Regress of an empty pool: need a base")
	}
	x, err := matrix(features)
	if err != nil {
		return nil, err
	}
	rows, columns := x.Dims()
	var squares mat.SymDense
	squares.SymOuterK(1, x.T())
	for j := range columns {
		squares.SetSym(j, j, squares.At(j, j)+ridge)
	}
	var solver mat.Cholesky
	if !solver.Factorize(&squares) {
		return nil, errApart
	}
	var all [][]float64
	for i, c := range pool {
		if len(c.Result.Cases) != rows || !finite(c.Result.Cases) {
			return nil, fmt.Errorf("layers: Regress of base %d with cases %v: need %d finite scores, one for each row of "+
				"features",
				i, c.Result.Cases, rows)
		}
		w := mat.NewVecDense(columns, nil)
		w.MulVec(x.T(), mat.NewVecDense(rows, c.Result.Cases))
		if err := solver.SolveVecTo(w, w); err != nil {
			return nil, errApart
		}
		all = append(all, w.RawVector().Data)
	}
	return all, nil
}

// matrix returns the rows of features.
func matrix(features [][]float64) (*mat.Dense, error) {
	if len(features) == 0 || len(features[0]) == 0 {
		return nil, errors.New("layers: Regress without features: need a row of at least one for each case")
	}
	x := mat.NewDense(len(features), len(features[0]), nil)
	for i, row := range features {
		if len(row) != len(features[0]) || !finite(row) {
			return nil, fmt.Errorf("layers: Regress of features %v in row %d: need %d finite numbers, as in row 0",
				row, i, len(features[0]))
		}
		x.SetRow(i, row)
	}
	return x, nil
}

func finite(all []float64) bool {
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
