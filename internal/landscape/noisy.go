package landscape

import "math/rand/v2"

// noisy has 24 words of six, each right or not by itself. Every evaluation adds normal noise with a standard deviation
// of 0.05, where a right word is worth 0.042. The true score is without it.
func noisy(r *rand.Rand) landscape {
	l := words(r)
	l.noise = 0.05
	return l
}

func words(r *rand.Rand) landscape {
	right := randomWords(6, 4, 6, r).flat()
	return landscape{
		initial: randomWords(6, 4, 6, r), model: able(6),
		judge: scored(func(s sheet) float64 { return float64(agreeing(s.flat(), right)) / float64(len(right)) }),
	}
}
