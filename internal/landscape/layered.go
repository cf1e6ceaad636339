package landscape

import "math/rand/v2"

// layered has four lines that are bases, of six words of four, and a last line of four words that combines them. With q
// the share of right words of a base and c that of the last line,
//
//	score = 0.5·mean(q) + 0.5·c²   if every q is at least 5/6
//	score = 0.5·mean(q)            otherwise
//
// so that how bases are combined makes no difference until all of them are good.
func layered(r *rand.Rand) landscape {
	const words = 4
	draw := func() sheet { return append(randomWords(4, 6, words, r), randomWords(1, 4, words, r)...) }
	right := draw()
	return landscape{initial: draw(), model: able(words), judge: scored(func(s sheet) float64 { return layers(s, right) })}
}

// layers returns the score of s.
func layers(s, right sheet) float64 {
	last := len(s) - 1
	sum, good := 0, true
	for i, base := range s[:last] {
		q := agreeing(base, right[i])
		sum += q
		good = good && q >= len(base)-1
	}
	score := 0.5 * float64(sum) / float64(last*len(s[0]))
	if !good {
		return score
	}
	c := float64(agreeing(s[last], right[last])) / float64(len(s[last]))
	return score + 0.5*c*c
}
