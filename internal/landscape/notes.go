package landscape

import "math/rand/v2"

// notes has 32 words of eight in eight lines, each of one of four kinds, "q:cedar". The score is the share of right
// words. Three quarters of the right words of a kind are the same one, so what has worked in one place mostly works in
// others of its kind. The model can be told so: it heeds half of the notes, and writes notes from the attempts that it
// is told of.
func notes(r *rand.Rand) landscape {
	const words = 8
	kinds := []string{"p:", "q:", "r:", "s:"}
	favourite := make([]string, len(kinds))
	for i := range favourite {
		favourite[i] = repertoire[r.IntN(words)]
	}
	right, initial := randomWords(8, 4, words, r), randomWords(8, 4, words, r)
	for i, line := range right {
		for j := range line {
			k := r.IntN(len(kinds))
			if r.Float64() < 0.75 {
				line[j] = favourite[k]
			}
			line[j], initial[i][j] = kinds[k]+line[j], kinds[k]+initial[i][j]
		}
	}
	l := landscape{initial: initial, model: able(words), judge: scored(func(s sheet) float64 {
		return float64(agreeing(s.flat(), right.flat())) / 32
	})}
	l.model.Heed, l.model.Insights = 0.5, true
	return l
}
