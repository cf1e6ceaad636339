package analysis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Fit is a linear regression by ordinary least squares, y = β₀ + β₁x₁ + … + βₖxₖ + error.
type Fit struct {
	Coef []float64 `json:"coef"` // β₀, β₁, ...
	// SE are the coefficients' standard errors if errors are independent and alike: the roots of the diagonal of
	// s²(XᵀX)⁻¹ with s² = RSS/(n−p). Cells of one search are not independent: see [Grid.Intervals].
	SE  []float64 `json:"se"`
	N   int       `json:"n"`   // observations
	DoF int       `json:"dof"` // n − p
	RSS float64   `json:"rss"` // the sum of squared residuals
	SD  float64   `json:"sd"`  // s
	R2  float64   `json:"r2"`  // 1 − RSS/TSS; 1 if y does not vary
	// AdjR2 is 1 − (1−R²)(n−1)/(n−p). Unlike R² it can fall with a further term.
	AdjR2 float64 `json:"adj_r2"`
	// AIC is n·ln(RSS/n) + 2(p+1), for normal errors of unknown spread; less is better, and only differences on the
	// same y mean anything (H. Akaike, "A New Look at the Statistical Model Identification", 1974). It is the smallest
	// float64 if the fit is exact.
	AIC float64 `json:"aic"`
}

// at returns the fitted y for x₁, x₂, ... It panics unless there is one for each coefficient but the first.
func (f Fit) at(x ...float64) float64 {
	if len(x) != len(f.Coef)-1 {
		panic(fmt.Sprintf("analysis: Fit.At of %d values: need %d", len(x), len(f.Coef)-1))
	}
	y := f.Coef[0]
	for i, v := range x {
		y += f.Coef[i+1] * v
	}
	return y
}

// ols fits y on the columns of x, x[i] being those of y[i], and a constant, by the QR decomposition (G. H. Golub, C.
// F. Van Loan, "Matrix Computations", section 5.3). It returns an error if lengths differ, a number is not finite,
// there are no more observations than coefficients, or columns depend on each other.
func ols(x [][]float64, y []float64) (Fit, error) {
	d, err := newDesign(x)
	if err != nil {
		return Fit{}, err
	}
	if len(x) != len(y) {
		return Fit{}, fmt.Errorf("analysis: OLS of %d rows on %d values: need as many", len(x), len(y))
	}
	for i, v := range y {
		if !finite(v) {
			return Fit{}, fmt.Errorf("analysis: OLS: value %d is %v", i, v)
		}
	}
	return d.fit(y), nil
}

// A design is the decomposed columns of a regression, which can fit many y.
type design struct {
	x  *mat.Dense
	qr mat.QR
	// pinv is R⁻¹Qᵀ by row: coefficient j of y is the product of pinv[j] and y. A bootstrap solves thousands of times.
	pinv [][]float64
}

// newDesign puts the constant before the columns of x.
func newDesign(x [][]float64) (*design, error) {
	if len(x) == 0 {
		return nil, fmt.Errorf("analysis: a regression without observations")
	}
	n, p := len(x), len(x[0])+1
	if n <= p {
		return nil, fmt.Errorf("analysis: %d observations for %d coefficients: need more", n, p)
	}
	d := &design{x: mat.NewDense(n, p, nil)}
	for i, row := range x {
		if len(row) != p-1 {
			return nil, fmt.Errorf("analysis: row %d of a regression has %d columns: need %d", i, len(row), p-1)
		}
		d.x.Set(i, 0, 1)
		for j, v := range row {
			if !finite(v) {
				return nil, fmt.Errorf("analysis: column %d of row %d of a regression is %v", j, i, v)
			}
			d.x.Set(i, j+1, v)
		}
	}
	if rank := d.rank(); rank < p {
		return nil, fmt.Errorf("analysis: the %d columns of a regression have rank %d: some follow from others", p, rank)
	}
	d.qr.Factorize(d.x)
	d.invert()
	return d, nil
}

// invert fills in pinv.
func (d *design) invert() {
	n, p := d.x.Dims()
	identity := mat.NewDiagDense(n, slices.Repeat([]float64{1}, n))
	var inverse mat.Dense
	// A design of full rank always has a solution, with a warning if it is ill conditioned.
	_ = d.qr.SolveTo(&inverse, false, identity)
	for j := range p {
		d.pinv = append(d.pinv, mat.Row(nil, j, &inverse))
	}
}

// rank returns the numerical rank: singular values of the columns, each scaled to length 1, above 1e-9 of the largest.
func (d *design) rank() int {
	n, p := d.x.Dims()
	scaled := mat.NewDense(n, p, nil)
	for j := range p {
		column := mat.Col(nil, j, d.x)
		if norm := mat.Norm(mat.NewVecDense(n, column), 2); norm > 0 {
			for i := range column {
				column[i] /= norm
			}
		}
		scaled.SetCol(j, column)
	}
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDNone) {
		return 0
	}
	values, rank := svd.Values(nil), 0
	for _, v := range values {
		if v > 1e-9*values[0] {
			rank++
		}
	}
	return rank
}

// solve writes the coefficients of y.
func (d *design) solve(y, coef []float64) {
	for j, row := range d.pinv {
		coef[j] = floats.Dot(row, y)
	}
}

// squares returns the sum of squared residuals of y, and that about its mean.
func (d *design) squares(y, coef []float64) (rss, tss float64) {
	middle := mean(y)
	for i, v := range y {
		fitted := 0.0
		for j, c := range coef {
			fitted += c * d.x.At(i, j)
		}
		rss += (v - fitted) * (v - fitted)
		tss += (v - middle) * (v - middle)
	}
	return rss, tss
}

// fit fits y.
func (d *design) fit(y []float64) Fit {
	n, p := d.x.Dims()
	f := Fit{Coef: make([]float64, p), SE: make([]float64, p), N: n, DoF: n - p}
	d.solve(y, f.Coef)
	var tss float64
	f.RSS, tss = d.squares(y, f.Coef)
	s2 := f.RSS / float64(f.DoF)
	f.SD, f.R2 = math.Sqrt(s2), rSquared(f.RSS, tss)
	f.AdjR2 = 1 - (1-f.R2)*float64(n-1)/float64(f.DoF)
	f.AIC = max(float64(n)*math.Log(f.RSS/float64(n))+2*float64(p+1), -math.MaxFloat64)
	inverse := d.inverse()
	for i := range p {
		f.SE[i] = math.Sqrt(s2 * inverse.At(i, i))
	}
	return f
}

// inverse returns (XᵀX)⁻¹ = R⁻¹R⁻ᵀ.
func (d *design) inverse() *mat.SymDense {
	_, p := d.x.Dims()
	var full mat.Dense
	d.qr.RTo(&full)
	r := mat.NewTriDense(p, mat.Upper, nil)
	for i := range p {
		for j := i; j < p; j++ {
			r.SetTri(i, j, full.At(i, j))
		}
	}
	var inverse mat.TriDense
	_ = inverse.InverseTri(r) // of full rank
	product := mat.NewSymDense(p, nil)
	product.SymOuterK(1, &inverse)
	return product
}

// rSquared returns 1 − RSS/TSS, and 1 of a y that does not vary.
func rSquared(rss, tss float64) float64 {
	if tss == 0 {
		return 1
	}
	return 1 - rss/tss
}
