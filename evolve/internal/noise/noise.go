// Package noise decides how a search of a noisy task spends evaluations on scoring programs again: how many, and on
// which. It is shared by the searches of packages evolve and population.
package noise

import (
	"math"
	"slices"
)

// What a search of a noisy task does unless it is told otherwise. docs/noise.md has the figures that they rest on.
const (
	Keep    = 4    // programs that may be scored again
	Rescore = 0.25 // of them scored again for each child
	Fresh   = 8    // samples of the best once the run is over
)

// Unless the noise is seen, one program is scored again for so many children, to see it if it comes.
const (
	quietRescore = 1.0 / 32
	quietAfter   = 3   // times that programs were scored again
	quietShare   = 0.1 // of the median distance of a child's score from its parent's
	window       = 32  // children whose distances are looked at
)

// Or returns the default for 0, and 0 for a negative number, which means none.
func Or[T int | float64](v, byDefault T) T {
	switch {
	case v == 0:
		return byDefault
	case v < 0:
		return 0
	}
	return v
}

// A Stat is what is known of a program: the mean of its samples, and their number.
type Stat struct {
	Mean float64
	N    int
}

// A Tally knows how noisy scores are, and how many are owed a second look. The zero value with a Rate is ready.
type Tally struct {
	Rate float64 // programs scored again for each child; 0 means none

	owed      float64
	squares   float64 // of samples around the mean of those before them
	df        int
	distances []float64 // of the newest children's scores from their parents', oldest first
}

// Child counts a child that was taken in. Pass its score's distance from its parent's, or NaN if it has no score.
func (t *Tally) Child(distance float64) {
	if !math.IsNaN(distance) {
		if t.distances = append(t.distances, math.Abs(distance)); len(t.distances) > window {
			t.distances = t.distances[1:]
		}
	}
	if t.quiet() {
		t.owed += min(t.Rate, quietRescore)
	} else {
		t.owed += t.Rate
	}
}

// Sample takes in the mean of n more samples of a program with the given Stat. With d the distance of the two means and
// m the samples before, d²·m·n/(m+n) estimates the variance of one sample without bias.
func (t *Tally) Sample(before Stat, mean float64, n int) {
	d, m, k := mean-before.Mean, float64(before.N), float64(n)
	t.squares += d * d * m * k / (m + k)
	t.df++
}

// SD estimates the standard deviation of one sample; 0 before a program was scored again.
func (t *Tally) SD() float64 {
	if t.df == 0 {
		return 0
	}
	return math.Sqrt(t.squares / float64(t.df))
}

// quiet reports whether the noise is too small to matter: a tenth of what children's scores typically differ by from
// their parents'. To score such programs again would only cost children.
func (t *Tally) quiet() bool {
	if t.df < quietAfter || len(t.distances) == 0 {
		return false
	}
	sorted := slices.Sorted(slices.Values(t.distances))
	return t.SD() <= quietShare*sorted[len(sorted)/2]
}

// Most returns the most programs that a step of n children scores again, so that evaluations can be set aside for it.
func Most(rate float64, n int) int { return int(math.Ceil(rate * float64(n))) }

// Due returns how many of the programs are to be scored again now, at most most, and which: for each the index of the one
// whose mean plus a standard error is the largest, where a sample that is due counts as taken. So the best is looked at
// until others could be better, and a program that was scored once has the benefit of the doubt, as under UCB (P. Auer,
// N. Cesa-Bianchi and P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002).
func (t *Tally) Due(programs []Stat, most int) []int {
	k := min(int(t.owed), most)
	if k <= 0 || len(programs) == 0 {
		return nil
	}
	t.owed -= float64(k)
	stats, sd := slices.Clone(programs), t.SD()
	chosen := make([]int, k)
	for i := range chosen {
		best := 0
		for j, s := range stats {
			if better(s, stats[best], sd) {
				best = j
			}
		}
		stats[best].N++
		chosen[i] = best
	}
	return chosen
}

func better(a, b Stat, sd float64) bool {
	x, y := a.Mean+sd/math.Sqrt(float64(a.N)), b.Mean+sd/math.Sqrt(float64(b.N))
	return x > y || x == y && a.N < b.N
}
