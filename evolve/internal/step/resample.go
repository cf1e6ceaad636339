package step

import (
	"math"
	"slices"
)

// Unless the noise is seen, one program is scored again for so many children, to see it if it comes.
const (
	quietRescore = 1.0 / 32
	quietAfter   = 3   // times that programs were scored again
	quietShare   = 0.1 // of the median distance of a child's score from the best's
	quietWindow  = 32  // children whose distances are looked at
)

// A Schedule knows how noisy the scores of a search are. It decides how many programs are scored again, and which.
// One goroutine at a time uses it.
type Schedule struct {
	rate float64 // programs scored again for each child
	left int     // how many may still be scored again in this step

	numbered  int // samples
	owed      float64
	squares   float64 // of samples around the mean of those before them
	df        int
	distances []float64 // of the newest children's scores from the best's, oldest first
}

// NewSchedule returns the Schedule of a search that scores so many programs again for each child.
func NewSchedule(rate float64) *Schedule { return &Schedule{rate: rate} }

// Begin begins a step of n children: it scores no more programs again than evaluations are set aside for.
func (s *Schedule) Begin(n int) { s.left = int(math.Ceil(s.rate * float64(n))) }

// Child counts a child that was taken in, with the distance of its score from that of the best then if it is valid.
func (s *Schedule) Child(valid bool, distance float64) {
	if valid {
		if s.distances = append(s.distances, math.Abs(distance)); len(s.distances) > quietWindow {
			s.distances = s.distances[1:]
		}
	}
	if s.quiet() {
		s.owed += min(s.rate, quietRescore)
	} else {
		s.owed += s.rate
	}
}

// A Stat is what is known of a program: the mean of its samples, and their number.
type Stat struct {
	Mean float64
	N    int
}

// Number returns the number of the next sample of a program that is scored again, from 1.
func (s *Schedule) Number() int {
	s.numbered++
	return s.numbered
}

// Sample takes in the mean of n more samples of a program with the given stat. With d the distance of the two means
// and m the samples before, d²·m·n/(m+n) estimates the variance of one sample without bias.
func (s *Schedule) Sample(before Stat, mean float64, n int) {
	d, m, k := mean-before.Mean, float64(before.N), float64(n)
	s.squares += d * d * m * k / (m + k)
	s.df++
}

// sd estimates the standard deviation of one sample; 0 before a program was scored again.
func (s *Schedule) sd() float64 {
	if s.df == 0 {
		return 0
	}
	return math.Sqrt(s.squares / float64(s.df))
}

// quiet reports whether the noise is too small to matter: a tenth of what children's scores typically differ by from
// the best's. To score such programs again would only cost children.
func (s *Schedule) quiet() bool {
	if s.df < quietAfter || len(s.distances) == 0 {
		return false
	}
	sorted := slices.Sorted(slices.Values(s.distances))
	return s.sd() <= quietShare*sorted[len(sorted)/2]
}

// Due returns which of the programs are scored again now: for each the index of the one whose mean plus a standard
// error is the largest, where a sample that is due counts as taken. So the best is looked at until others could be
// better, and a program that was scored once has the benefit of the doubt, as under UCB (P. Auer, N. Cesa-Bianchi and
// P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002).
func (s *Schedule) Due(programs []Stat) []int {
	k := min(int(s.owed), s.left)
	if k <= 0 || len(programs) == 0 {
		return nil
	}
	s.owed -= float64(k)
	s.left -= k
	stats, sd := slices.Clone(programs), s.sd()
	chosen := make([]int, k)
	for i := range chosen {
		best := 0
		for j, at := range stats {
			if at.above(stats[best], sd) {
				best = j
			}
		}
		stats[best].N++
		chosen[i] = best
	}
	return chosen
}

// above reports whether s could be better than o, where one sample has the standard deviation sd.
func (s Stat) above(o Stat, sd float64) bool {
	x, y := s.Mean+sd/math.Sqrt(float64(s.N)), o.Mean+sd/math.Sqrt(float64(o.N))
	return x > y || x == y && s.N < o.N
}
