package sim

import "slices"

// A Course is how the best score of a run, or of one search, rose: what it started from, after 0 pulls, and each
// number of pulls after which it was higher than all before. Such pulls are few, so a course is small beside a score
// for each pull.
type Course []Point

// A Point of a course is a score, and the pulls after which it was reached.
type Point struct {
	Pulls int
	Score float64
}

// newCourse returns the course of a score, given after 0, 1, ... pulls. Scores that are not above all earlier ones are
// no points of it.
func newCourse(best []float64) Course {
	var c Course
	for t, score := range best {
		if t == 0 || score > c.last() {
			c = append(c, Point{t, score})
		}
	}
	return slices.Clip(c)
}

// last returns the score at the end.
func (c Course) last() float64 { return c[len(c)-1].Score }

// After returns the best score after so many pulls.
func (c Course) After(pulls int) float64 {
	i, found := slices.BinarySearchFunc(c, pulls, func(r Point, pulls int) int { return r.Pulls - pulls })
	if !found {
		i--
	}
	return c[i].Score
}

// First returns the pulls after which the score was at least level, or [NotReached].
func (c Course) First(level float64) int {
	low, high := 0, len(c)
	for low < high {
		if middle := (low + high) / 2; c[middle].Score >= level {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if low == len(c) {
		return NotReached
	}
	return c[low].Pulls
}

// mean returns the mean score over 1, 2, ..., rounds pulls.
func (c Course) mean(rounds int) float64 {
	var sum float64
	end := rounds + 1
	for _, r := range slices.Backward(c) {
		from := max(r.Pulls, 1)
		if from < end {
			sum += r.Score * float64(end-from)
			end = from
		}
	}
	return sum / float64(rounds)
}

// A cursor reads a course from its start, pull by pull.
type cursor struct {
	course Course
	at     int
}

// after returns the score after t pulls. t must not fall from call to call.
func (c *cursor) after(t int) float64 {
	for c.at+1 < len(c.course) && c.course[c.at+1].Pulls <= t {
		c.at++
	}
	return c.course[c.at].Score
}
