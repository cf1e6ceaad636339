package landscape

import "math/rand/v2"

// traps has twelve lines of five words of two. A line with u right words adds
//
//	1                  if u = 5
//	0.8·(4 − u)/4      otherwise
//
// and the score is the mean of the lines (K. Deb and D. Goldberg, "Analyzing Deception in Trap Functions", 1993). Each
// single change leads away from the right line, which only a line written anew or taken over can be.
func traps(r *rand.Rand) landscape {
	right := randomWords(12, 5, 2, r)
	return landscape{
		initial: randomWords(12, 5, 2, r), model: able(2),
		judge: scored(func(s sheet) float64 { return trapped(s, right) }),
	}
}

// trapped returns the score of s.
func trapped(s, right sheet) float64 {
	sum := 0.0
	for i, line := range s {
		if u := agreeing(line, right[i]); u == len(line) {
			sum++
		} else {
			most := len(line) - 1
			sum += 0.8 * float64(most-u) / float64(most)
		}
	}
	return sum / float64(len(s))
}
