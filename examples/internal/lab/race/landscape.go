package race

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// Landscape is greedy searches on an objective that is not geometry, as evolve.Greedy makes them: a generation's
// children are edits of one parent, and the best of them replaces it if it is strictly better. The objective is
// the same for every seed, and all arms start from the same solution, so arms differ by their luck alone.
//
// A child is one of three edits: a few steps, one at least and after each another one with chance one half, 17
// times in twenty; as many steps as the solution is long, one time in ten; or a failure without a score.
type Landscape struct {
	// Kind is one of
	//
	//	"nk"         48 bits, each one's worth decided by five others' too: many local optima
	//	"labs"       40 signs whose autocorrelations are to be small: a golf course
	//	"trap"       12 blocks of 4 bits, each of which leads away from its best
	//	"tsp"        a tour of 40 cities
	//	"rastrigin"  8 coordinates, many local optima of one depth
	//	"valley"     a curved valley in 6 coordinates, followed in small steps
	//	"maxcut"     40 nodes of a graph with weights in two parts, with as much as possible between them
	//	"knapsack"   which of 60 things to take, of limited weight
	//	"ackley"     a narrow funnel in 8 coordinates on a wavy plain
	//
	// Search panics if it is another one.
	Kind string
	// Neutral lets a child that is as good as its parent replace it, so that the search drifts.
	Neutral bool
}

var _ Drifter = Landscape{}

// Landscapes returns one of each kind.
func Landscapes() []Landscape {
	var all []Landscape
	for _, kind := range []string{"nk", "labs", "trap", "tsp", "rastrigin", "valley", "maxcut", "knapsack", "ackley"} {
		all = append(all, Landscape{Kind: kind})
	}
	return all
}

// String returns the kind, with "-neutral" if it is.
func (l Landscape) String() string {
	if l.Neutral {
		return l.Kind + "-neutral"
	}
	return l.Kind
}

// Drifting implements [Drifter].
func (l Landscape) Drifting() Stepper {
	l.Neutral = true
	return l
}

// Search implements [Stepper]. It panics if the kind is unknown.
func (l Landscape) Search(a sim.Address) Search {
	t, ok := terrains[l.Kind]
	if !ok {
		panic(fmt.Sprintf("race: unknown kind %q of a Landscape: it is one of nk, labs, trap, tsp, rastrigin, valley, "+
			"maxcut, knapsack, ackley", l.Kind))
	}
	w := &walk{greedy: newGreedy(t.start(), l.Neutral, t.score), edit: t.edit, rand: random(a, l.Kind)}
	w.propose = w.next
	return w
}

// Arm implements [sim.Family]. It panics where Search does.
func (l Landscape) Arm(a sim.Address) []float64 { return trajectory(l.Search(a), a) }

// A walk is a search of a landscape under way.
type walk struct {
	greedy
	edit func(r *rand.Rand, x []float64, size float64)
	rand *rand.Rand
}

// next makes a child, and reports whether it has a score.
func (w *walk) next() bool {
	copy(w.child, w.parent)
	steps := 1
	switch u := w.rand.Float64(); {
	case u < 0.05:
		return false
	case u < 0.15:
		steps = len(w.child)
	default:
		for w.rand.Float64() < 0.5 {
			steps++
		}
	}
	size := scale(w.rand, 0.001, 0.5)
	for range steps {
		w.edit(w.rand, w.child, size)
	}
	return true
}

// A terrain is what a landscape is made of. Scores are in [0, 1], and 1 is the best there can be or more.
type terrain struct {
	start func() []float64
	edit  func(r *rand.Rand, x []float64, size float64) // makes one step
	score func(x []float64) float64
}

var terrains = map[string]terrain{
	"nk":        {zeros(48), flip, nk},
	"labs":      {ones(40), negate, labs},
	"trap":      {bits(48), flip, trap},
	"tsp":       {tour(40), reconnect, tsp},
	"rastrigin": {corner(8, 3), shift(5.12), rastrigin},
	"valley":    {corner(6, -1), shift(2), valley},
	"maxcut":    {bits(40), flip, maxcut},
	"knapsack":  {zeros(60), flip, knapsack},
	"ackley":    {corner(8, 20), shift(30), ackley},
}

// bits returns what makes bits at random, always the same.
func bits(n int) func() []float64 {
	return func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Round(hashed(4000 + uint64(i)))
		}
		return x
	}
}

func zeros(n int) func() []float64 { return corner(n, 0) }
func ones(n int) func() []float64  { return corner(n, 1) }

// corner returns what makes n times v.
func corner(n int, v float64) func() []float64 {
	return func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
}

func tour(n int) func() []float64 {
	return func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		return x
	}
}

func flip(r *rand.Rand, x []float64, _ float64) {
	i := r.IntN(len(x))
	x[i] = 1 - x[i]
}

func negate(r *rand.Rand, x []float64, _ float64) {
	i := r.IntN(len(x))
	x[i] = -x[i]
}

// reconnect turns a part of the tour around, or moves one city.
func reconnect(r *rand.Rand, x []float64, _ float64) {
	i, j := r.IntN(len(x)), r.IntN(len(x))
	if i > j {
		i, j = j, i
	}
	if r.Float64() < 0.5 {
		for ; i < j; i, j = i+1, j-1 {
			x[i], x[j] = x[j], x[i]
		}
		return
	}
	city := x[i]
	copy(x[i:], x[i+1:j+1])
	x[j] = city
}

// shift returns an edit that moves one coordinate by a normal step within −most to most.
func shift(most float64) func(r *rand.Rand, x []float64, size float64) {
	return func(r *rand.Rand, x []float64, size float64) {
		i := r.IntN(len(x))
		x[i] = min(max(x[i]+most*size*r.NormFloat64(), -most), most)
	}
}

// nk returns the mean worth of the bits. A bit's worth is a number in [0, 1) for each setting of it and of the
// five after it (S. Kauffman and S. Levin, "Towards a general theory of adaptive walks on rugged landscapes",
// 1987).
func nk(x []float64) float64 {
	var sum float64
	for i := range x {
		setting := uint64(0)
		for j := range 6 {
			setting = setting<<1 | uint64(x[(i+j)%len(x)])
		}
		sum += hashed(uint64(i)<<8 | setting)
	}
	return sum / float64(len(x)) / 0.8
}

// hashed returns a number in [0, 1) by its key, always the same (the finalizer of SplitMix64).
func hashed(key uint64) float64 {
	key += 0x9e3779b97f4a7c15
	key = (key ^ key>>30) * 0xbf58476d1ce4e5b9
	key = (key ^ key>>27) * 0x94d049bb133111eb
	return float64((key^key>>31)>>11) / (1 << 53)
}

// labs returns the merit factor of the signs over 8: n²/2 over the sum of the squares of their autocorrelations.
// The best of 40 signs have 7.4.
func labs(x []float64) float64 {
	var energy float64
	for k := 1; k < len(x); k++ {
		var c float64
		for i := k; i < len(x); i++ {
			c += x[i] * x[i-k]
		}
		energy += c * c
	}
	n := float64(len(x))
	return n * n / 2 / energy / 8
}

// trap returns the mean worth of blocks of 4 bits: 1 if all are set, and else 0.2 for each that is not.
func trap(x []float64) float64 {
	var sum float64
	for i := 0; i < len(x); i += 4 {
		set := x[i] + x[i+1] + x[i+2] + x[i+3]
		if set == 4 {
			sum++
		} else {
			sum += 0.2 * (3 - set)
		}
	}
	return sum / float64(len(x)/4)
}

// tsp returns 4 over the length of the closed tour. The cities are in the unit square, at random but always the
// same, and a random tour has a length of about 20.
func tsp(x []float64) float64 {
	var length float64
	last := x[len(x)-1]
	for _, city := range x {
		dx, dy := hashed(1000+uint64(city))-hashed(1000+uint64(last)), hashed(2000+uint64(city))-hashed(2000+uint64(last))
		length += math.Sqrt(dx*dx + dy*dy)
		last = city
	}
	return min(4/length, 1)
}

// rastrigin returns 1/(1 + f/10) of Rastrigin's function f, moved away from 0.
func rastrigin(x []float64) float64 {
	f := 10 * float64(len(x))
	for i, v := range x {
		v -= 2*hashed(3000+uint64(i)) - 1
		f += v*v - 10*math.Cos(2*math.Pi*v)
	}
	return 1 / (1 + f/10)
}

// valley returns 1/(1 + f/10) of Rosenbrock's function f.
func valley(x []float64) float64 {
	var f float64
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*a*a + b*b
	}
	return 1 / (1 + f/10)
}

// maxcut returns the weight between the parts, over three quarters of that of all edges, which is about the best there
// can be. One pair in five is an edge, of a weight in [0, 1).
func maxcut(x []float64) float64 {
	var cut, all float64
	for i := range x {
		for j := range i {
			key := 5000 + uint64(i)*64 + uint64(j)
			if hashed(key) >= 0.2 {
				continue
			}
			weight := hashed(key + 4096)
			all += weight
			if x[i] != x[j] {
				cut += weight
			}
		}
	}
	return min(cut/all/0.75, 1)
}

// knapsack returns the worth of what is taken over two fifths of that of all, which is about the best there can be, and
// 0 if it weighs more than a third of all.
func knapsack(x []float64) float64 {
	var worth, weight, allWorth, allWeight float64
	for i, taken := range x {
		heavy := 0.1 + hashed(15000+uint64(i))
		dear := heavy * (0.8 + 0.4*hashed(16000+uint64(i))) // dear things are heavy, or it would be too easy
		worth, weight = worth+taken*dear, weight+taken*heavy
		allWorth, allWeight = allWorth+dear, allWeight+heavy
	}
	if weight > allWeight/3 {
		return 0
	}
	return min(worth/allWorth*2.5, 1)
}

// ackley returns 1/(1 + f/4) of Ackley's function f, moved away from 0.
func ackley(x []float64) float64 {
	var squares, waves float64
	for i, v := range x {
		v -= 10 * (2*hashed(17000+uint64(i)) - 1)
		squares += v * v
		waves += math.Cos(2 * math.Pi * v)
	}
	n := float64(len(x))
	f := -20*math.Exp(-0.2*math.Sqrt(squares/n)) - math.Exp(waves/n) + 20 + math.E
	return 1 / (1 + max(f, 0)/4)
}
