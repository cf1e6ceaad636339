package history

import "math"

// Lifts sum by how much children are better than their parents. The mean and the sum of squared distances from it are
// kept as by Welford, which loses no digits where lifts are small and alike.
type Lifts struct {
	N           int
	mean, about float64
}

// Add counts a lift.
func (l *Lifts) Add(lift float64) {
	l.N++
	d := lift - l.mean
	l.mean += d / float64(l.N)
	l.about += d * (lift - l.mean)
}

// Mean returns the mean, 0 of none or if it is not finite.
func (l Lifts) Mean() float64 { return finite(l.mean) }

// SD returns the standard deviation √(Σ(l − l̄)²/(n − 1)), 0 of fewer than two or if it is not finite.
func (l Lifts) SD() float64 {
	if l.N < 2 {
		return 0
	}
	return finite(math.Sqrt(l.about / float64(l.N-1)))
}

// SE returns the standard error of the mean, 0 of fewer than two or if it is not finite.
func (l Lifts) SE() float64 {
	if l.N < 2 {
		return 0
	}
	return finite(math.Sqrt(l.about / float64(l.N-1) / float64(l.N)))
}

// In returns the mean in standard deviations of all lifts of the run, 0 if these have none.
func (l Lifts) In(all Lifts) float64 {
	if sd := all.SD(); sd > 0 {
		return finite(l.mean / sd)
	}
	return 0
}
