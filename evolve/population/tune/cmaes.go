package tune

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// minimize looks for a point with a low cost in n dimensions, from the point 0, of which most gains lie within a few
// units. It asks cost for batches of points until cost reports that there may be no more, or the distribution has become
// a point. A cost is +Inf for a point that is not allowed, and is never NaN.
//
// This is CMA-ES. A point is y + σ·M·z, where z is standard normal. Of λ points the better half, in order and with
// weights w, moves y by σ·Σ w·M·z. With the path s, an average of Σ w·z over batches,
//
//	M ← M·(I + c₁/2·(s·sᵀ − I) + c_w/2·(Σ w·z·zᵀ − I)),  σ ← σ·exp(c_s/d·(‖s‖/E‖z‖ − 1)).
//
// This is the form of H.-G. Beyer, B. Sendhoff (IEEE Transactions on Evolutionary Computation 21, 2017), with the
// constants of N. Hansen (arXiv 1604.00772). gonum's optimize.CmaEsChol was tried and dropped: its step size does not
// scale what it draws, and 600 evaluations leave it far from the lowest point of a parabola in four numbers.
func minimize(n int, r *rand.Rand, cost func([][]float64) ([]float64, bool)) {
	c, more := newCloud(n, r, cost)
	for more && c.step > 1e-9 && c.step < 1e6 {
		points := c.draw(r)
		var costs []float64
		if costs, more = cost(points); more {
			c.learn(costs)
		}
	}
}

// A cloud is the distribution.
type cloud struct {
	n                      int
	mean, path             []float64
	step                   float64
	shape                  *mat.Dense // M
	z, d                   [][]float64
	weights                []float64
	mu, cs, c1, cw, ds, ez float64
}

// newCloud returns a distribution that begins at the best of 18 points, with the step that led there. Nobody knows how
// wrong the numbers of a program are, and a step that is ten times too long or too short costs more than these.
func newCloud(n int, r *rand.Rand, cost func([][]float64) ([]float64, bool)) (c *cloud, more bool) {
	steps := [...]float64{3, 1, 0.3, 0.1, 0.03, 0.01}
	points := [][]float64{make([]float64, n)}
	for i := range 3 * len(steps) {
		points = append(points, floats.ScaleTo(make([]float64, n), steps[i/3], gauss(n, r)))
	}
	costs, more := cost(points)
	if !more {
		return nil, false
	}
	best := floats.MinIdx(costs)
	from, step := points[best], steps[max(0, best-1)/3]
	if best == 0 || costs[best] >= costs[0] { // all are worse than the start
		from, step = points[0], steps[len(steps)-1]
	}
	size, x := 4+int(3*math.Log(float64(n))), float64(n)
	c = &cloud{n: n, mean: from, path: make([]float64, n), step: step, shape: mat.NewDense(n, n, nil),
		z: make([][]float64, size), d: make([][]float64, size), weights: make([]float64, size/2)}
	for i := range n {
		c.shape.Set(i, i, 1)
	}
	for i := range c.weights {
		c.weights[i] = math.Log(float64(size+1)/2) - math.Log(float64(i+1))
	}
	floats.Scale(1/floats.Sum(c.weights), c.weights)
	c.mu = 1 / floats.Dot(c.weights, c.weights)
	c.cs = (c.mu + 2) / (x + c.mu + 5)
	c.c1 = 2 / ((x+1.3)*(x+1.3) + c.mu)
	c.cw = min(1-c.c1, 2*(c.mu-2+1/c.mu)/((x+2)*(x+2)+c.mu))
	c.ds = 1 + c.cs + 2*max(0, math.Sqrt((c.mu-1)/(x+1))-1)
	c.ez = math.Sqrt(x) * (1 - 1/(4*x) + 1/(21*x*x))
	return c, true
}

func (c *cloud) draw(r *rand.Rand) [][]float64 {
	points := make([][]float64, len(c.z))
	for i := range points {
		c.z[i] = gauss(c.n, r)
		var d mat.VecDense
		d.MulVec(c.shape, mat.NewVecDense(c.n, c.z[i]))
		c.d[i] = d.RawVector().Data
		points[i] = floats.AddScaledTo(make([]float64, c.n), c.mean, c.step, c.d[i])
	}
	return points
}

// learn moves the distribution to the better half of the batch. Of equal ones the one that was drawn first is better.
func (c *cloud) learn(costs []float64) {
	order := make([]int, len(costs))
	floats.ArgsortStable(slices.Clone(costs), order)
	mean, way := slices.Clone(c.mean), make([]float64, c.n)
	change := mat.NewSymDense(c.n, nil)
	for i, w := range c.weights {
		at := order[i]
		floats.AddScaled(mean, c.step*w, c.d[at])
		floats.AddScaled(way, w, c.z[at])
		blas64.Syr(c.cw/2*w, blas64.Vector{N: c.n, Inc: 1, Data: c.z[at]}, change.RawSymmetric())
	}
	c.mean = mean
	floats.Scale(1-c.cs, c.path)
	floats.AddScaled(c.path, math.Sqrt(c.mu*c.cs*(2-c.cs)), way)
	blas64.Syr(c.c1/2, blas64.Vector{N: c.n, Inc: 1, Data: c.path}, change.RawSymmetric())
	for i := range c.n {
		change.SetSym(i, i, change.At(i, i)+1-(c.c1+c.cw)/2)
	}
	var shape mat.Dense
	shape.Mul(c.shape, change)
	c.shape = &shape
	c.step *= math.Exp(c.cs / c.ds * (floats.Norm(c.path, 2)/c.ez - 1))
}

func gauss(n int, r *rand.Rand) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = r.NormFloat64()
	}
	return p
}
