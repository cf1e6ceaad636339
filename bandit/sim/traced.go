package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A traced is a [Family] of searches fitted to logged scores of real models. The gap of a search is 1 − score/known,
// with the best score known; it is 1 without a valid program. The arms of one seed search the same task, drawn from
// Tasks.
//
// A child is better than its parent with the chance 1 − ((w + n)/(w + n + 1))², with n the earlier children of that
// parent, and leaves 10^q of the gap, with q drawn from Closes. So plateaus are the rule, and the waits for a better
// child are those of chances that differ by a Gamma distribution of shape 2. The chance is of both models as often as
// in the logs.
//
// The numbers are of 35 islands of github.com/inter-co/science-codeevolve, half of each group: w by maximum
// likelihood, as is the shape; the others are shares and quantiles. Lift is shrunk to that of all tasks, which counts
// as three gains.
//
// It cannot show what a tie or another search's program is worth, nor what islands do that never exchange programs,
// as the logged ones did every 40 calls. Its searches of one task differ by luck alone and go on from their best, and
// it gains more after 80 calls than logged runs of another system do. docs/measurements/2026-11-27-real-traces.md has
// its fit.
type traced struct {
	Name    string
	Digits  bool       // scores are log₁₀(gap)/−6, the share of six digits that are right; else 1 − gap
	Dollars [2]float64 // the price of a call of each model
	Tasks   []tracedTask
}

// A tracedTask has the numbers of one task. Lists of four are by how far a search is: without a valid program, with a
// gap above 0.05, above 0.005, and below. Quantiles are at even distances, with straight lines between them.
type tracedTask struct {
	Name   string
	First  []float64    // quantiles of the gap of the first valid program
	Closes [3][]float64 // quantiles of log₁₀ of the share of the gap that a better child leaves, without the first
	Wait   [4]float64   // w, in calls
	Lift   [4]float64   // the chance of a better child by the second model, over that by the first
	Valid  [2]float64   // the share of valid children by each model, once there is a valid program
	Tie    float64      // the share that repeats a score, of the valid ones that are not better
}

// newGemini returns a family whose models are Gemini 2.5 Flash and Pro: 12,900 tokens of a prompt and 10,200 of a reply
// at $0.30 and $2.50 a million, and 12,700 and 9,600 at $1.25 and $10, the list prices of 2025.
func newGemini(name string, digits bool) *traced {
	packing := [3][]float64{{-2.03, -1.44, -1.34, -1.12, -0.43, -0.20, -0.10, -0.06, -0.02, 0, 0},
		{-1.68, -0.55, -0.34, -0.24, -0.21, -0.17, -0.11, -0.07, -0.05, -0.04, 0},
		{-3.57, -3.38, -3.30, -3.15, -1.39, -0.34, -0.29, -0.13, -0.09, -0.07, -0.04}}
	distance := [3][]float64{{-1.71, -0.81, -0.38, -0.26, -0.18, -0.15, -0.12, -0.05, -0.03, -0.01, 0},
		{-2.93, -1.19, -1.02, -0.67, -0.43, -0.40, -0.32, -0.29, -0.26, -0.14, -0.01},
		{-2.07, -0.76, -0.50, -0.37, -0.16, -0.08, -0.05, -0.04, -0.02, -0.01, 0}}
	autocorr := [3][]float64{{-0.74, -0.34, -0.30, -0.25, -0.13, -0.03, -0.01, -0.01, -0.01, -0.01, 0},
		{-0.64, -0.32, -0.13, -0.07, -0.05, -0.03, -0.02, -0.02, -0.02, -0.01, 0},
		{-0.86, -0.64, -0.41, -0.19, -0.10, -0.08, -0.06, -0.05, -0.03, -0.02, 0}}
	slow, fast := [4]float64{7.4, 19.5, 16.9, 50.3}, [4]float64{1.3, 12.0, 21.0, 19.0}
	return &traced{name, digits, [2]float64{0.0294, 0.1119}, []tracedTask{
		{"circles in a rectangle", []float64{0.289, 0.581, 0.591}, packing, slow,
			[4]float64{2.40, 1.59, 1.32, 0.66}, [2]float64{0.66, 0.76}, 0.65},
		{"26 circles", []float64{0.00607, 0.00934, 0.0128, 0.0141, 0.0176, 0.0273, 0.578}, packing, slow,
			[4]float64{3.65, 1.86, 0.72, 0.50}, [2]float64{0.34, 0.45}, 0.34},
		{"32 circles", []float64{0.0065, 0.0107, 0.0207, 0.0223, 0.0234, 0.543, 0.603, 0.702}, packing, slow,
			[4]float64{3.89, 1.66, 1.87, 2.04}, [2]float64{0.53, 0.65}, 0.23},
		{"distances in the plane", []float64{0.309, 0.4, 0.429, 0.436, 0.445, 0.453, 0.623}, distance, fast,
			[4]float64{2.51, 1.42, 0.95, 0.59}, [2]float64{0.58, 0.75}, 0.23},
		{"distances in space", []float64{0.115, 0.175, 0.779}, distance, fast,
			[4]float64{2.65, 1.87, 0.99, 0.55}, [2]float64{0.67, 0.80}, 0.13},
		{"autocorrelation", []float64{0.0589, 0.0621, 0.0722, 0.0837, 0.0906, 0.224, 0.224}, autocorr, fast,
			[4]float64{2.21, 1.93, 0.74, 0.74}, [2]float64{0.83, 0.90}, 0.16},
	}}
}

// Arm implements [Family]. The children of a pull have the same parent, and each is by the second model with the chance
// that it has in the logs.
func (f *traced) Arm(a Address) []float64 {
	s := f.Search(a.Seed, a.Index)
	scores, gaps := []float64{0}, make([]float64, max(a.N, 1))
	for range a.Rounds {
		for i := range gaps {
			gaps[i], _ = s.Child(int(s.rand.Float64() + tracedShare))
		}
		s.Take(slices.Min(gaps))
		scores = append(scores, s.Best())
	}
	return scores
}

// String returns the name.
func (f *traced) String() string { return f.Name }

// Search returns a search to advance child by child, with a model of one's choice for each.
func (f *traced) Search(seed uint64, index int) *tracedSearch {
	task := stream.New(seed, "task/traced", 0).IntN(len(f.Tasks))
	return &tracedSearch{f.Tasks[task], f.Digits, stream.New(seed, "family/traced", uint64(index)), 1, 0, 0}
}

const tracedShare = 0.21 // of the second model's calls in the logs

// A tracedSearch is one search of a [traced].
type tracedSearch struct {
	task   tracedTask
	digits bool
	rand   *rand.Rand
	gap    float64
	state  int     // how far it is, an index of a task's lists
	asked  float64 // n, children of the incumbent
}

// Child returns the gap of a child of the incumbent by a model, 0 or 1. That of an invalid one is 1.
func (s *tracedSearch) Child(model int) (gap float64, valid bool) {
	lift := s.task.Lift[s.state]
	rate := 2 * math.Log1p(1/(s.task.Wait[s.state]+s.asked)) / (1 - tracedShare + tracedShare*lift)
	better := -math.Expm1(-rate * []float64{1, lift}[model])
	s.asked++
	switch u := s.rand.Float64(); {
	case u < better && s.state == 0:
		return bootstrap.Quantile(s.task.First, s.rand.Float64()), true
	case u < better:
		left := bootstrap.Quantile(s.task.Closes[s.state-1], s.rand.Float64())
		return max(1e-6, s.gap*math.Pow(10, left)), true
	case s.state == 0 || u >= s.task.Valid[model]:
		return 1, false
	case s.rand.Float64() < s.task.Tie:
		return s.gap, true
	}
	return between(s.rand, s.gap, 1), true
}

// Take makes a child the incumbent if it is better, and reports whether it is.
func (s *tracedSearch) Take(gap float64) bool {
	if gap >= s.gap {
		return false
	}
	above := []float64{0.05, 0.005}
	s.gap, s.state, s.asked = gap, 1+sort.Search(2, func(i int) bool { return gap > above[i] }), 0
	return true
}

// Best returns the score of the incumbent, in [0, 1]: 0 without a valid program.
func (s *tracedSearch) Best() float64 {
	if s.digits {
		return 0 - math.Log10(s.gap)/6
	}
	return 1 - s.gap
}
