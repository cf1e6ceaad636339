package landscape

import "math/rand/v2"

// additive has 32 words of six, each right or not by itself:
//
//	score = right/32
//
// Every step up is small and always open, so nothing beats going up from the best.
func additive(r *rand.Rand) landscape {
	right := randomWords(8, 4, 6, r).flat()
	return landscape{
		initial: randomWords(8, 4, 6, r), model: able(6),
		judge: scored(func(s sheet) float64 { return float64(agreeing(s.flat(), right)) / float64(len(right)) }),
	}
}
