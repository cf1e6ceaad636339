// Package sim measures policies on simulated arms, without a model and in seconds.
//
// A [Family] makes arms whose best score rises with their own pulls, as that of a search does. [Play] lets
// one policy play such arms once, and [Race] plays it over searches whose steps differ in width, in time. [Study]
// compares several policies over many runs in many settings, on paired seeds; [Summarize], [GainOver] and [Compare]
// turn what it finds into means, differences, ratios and intervals.
package sim

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Family makes simulated arms of one kind: searches whose best score so far, in [0, 1], rises with their
// own pulls, in jumps. A family is a plain value without state, safe for concurrent use.
type Family interface {
	// Arm returns the best score of an arm after 0, 1, ..., a.Rounds pulls: numbers that never fall, in [0, 1]
	// but for those of a [Bank] or of [Scaled]. Equal addresses give equal arms, and with more rounds the same
	// numbers come first. The arms of one seed all start from the same score, as searches do that start from one
	// program. An arm may give fewer numbers, for a search that ends before a.Rounds pulls, and closes then. Only
	// those of a Bank do.
	Arm(a Address) []float64
	// String returns the family's short name.
	String() string
}

// An Address says which arm of a family is meant. An arm depends on nothing else, so policies that are played
// on equal seeds meet equal arms.
type Address struct {
	Seed   uint64 // of the run
	Index  int    // the arm's, from 0
	N      int    // children to a generation, which is a pull; 0 means 1
	Rounds int    // pulls
}

// Arms returns the arms 0 to k−1 of a run, as [Play] takes them.
func Arms(f Family, seed uint64, k, n, rounds int) [][]float64 {
	arms := make([][]float64, k)
	for i := range arms {
		arms[i] = f.Arm(Address{Seed: seed, Index: i, N: n, Rounds: rounds})
	}
	return arms
}

// Synthetic returns the families that are made from formulas, in their default form.
func Synthetic() []Family {
	return []Family{HeavyTail{}, Plateaus{}, PowerLaw{}, FirstImpressions{}, Breakthrough{}, LateBloomers{}, Draws{}, Staircase{}}
}

// Families returns all families: the synthetic ones and the hill-climbs, twenty in all.
func Families() []Family {
	all := Synthetic()
	for _, h := range HillClimbs() {
		all = append(all, h)
	}
	return all
}

// Unlike returns families that are unlike those of [Families]: late and sudden jumps, noise that shrinks, arms that do
// not differ, dead arms, linear rise, curves that cross, arms near the ceiling, and the [Landscapes].
func Unlike() []Family {
	all := []Family{LateJumps{}, NearTop{}, DeadArms{}, ShrinkingNoise{}, Exchangeable{}, Linear{}, Crossing{}}
	for _, l := range Landscapes() {
		all = append(all, l)
	}
	return all
}

// Deciding returns the families of [Unlike] that nothing in this library was tuned on: the constants of
// bandit.ExpectedImprovement and of evolve.Adaptive were chosen on the others and on Families. Claims are checked on
// these. Whoever tunes on them has to make others.
func Deciding() []Family {
	return []Family{ShrinkingNoise{}, Exchangeable{}, Linear{}, Crossing{}, Landscape{Kind: "maxcut"}, Landscape{Kind: "knapsack"}, Landscape{Kind: "ackley"}}
}

// random returns the arm's own stream of random numbers.
func (a Address) random(f Family) *rand.Rand {
	return stream.New(a.Seed, "family/"+f.String(), uint64(a.Index))
}

// between returns a number drawn uniformly from [lo, hi).
func between(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }

// scale returns a number in [lo, hi) whose logarithm is drawn uniformly.
func scale(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

// logNormal returns exp(sigma·z) with a standard normal z: a factor of median 1.
func logNormal(r *rand.Rand, sigma float64) float64 { return math.Exp(sigma * r.NormFloat64()) }

// or returns v, or the default if v is 0. It panics unless v is in (0, most]; most may be +Inf.
func or(family Family, field string, v, def, most float64) float64 {
	if v == 0 {
		v = def
	}
	if !(v > 0 && v <= most) {
		panic(fmt.Sprintf("sim: %s of %v is %v: need a number in (0, %v]", field, family, v, most))
	}
	return v
}
