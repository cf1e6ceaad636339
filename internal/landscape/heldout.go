package landscape

import (
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
)

// heldOut has 24 words of four in six lines. Searches see 16 cases, of which each looks at six of the words, and wants
// another word than the right one for two of these: a quirk of its own. A case's score is the share of its six words
// that are as it wants them. The true score is on all cases that there could be, whose quirks cancel out: the share of
// right words. So what is best on the few cases is not best.
func heldOut(r *rand.Rand) landscape {
	const words, cases, seen, quirks = 4, 16, 6, 2
	right := randomWords(6, 4, words, r).flat()
	wanted := make([]map[int]string, cases)
	for i := range wanted {
		wanted[i] = map[int]string{}
		for k, at := range r.Perm(len(right))[:seen] {
			wanted[i][at] = right[at]
			for k < quirks && wanted[i][at] == right[at] {
				wanted[i][at] = repertoire[r.IntN(words)]
			}
		}
	}
	return landscape{
		initial: randomWords(6, 4, words, r), model: able(words),
		truth: func(s sheet) float64 { return float64(agreeing(s.flat(), right)) / float64(len(right)) },
		judge: func(s sheet) eval.Result {
			list, flat := make([]float64, cases), s.flat()
			for i, want := range wanted {
				for at, word := range want {
					if flat[at] == word {
						list[i] += 1.0 / seen
					}
				}
			}
			return byCase(list)
		},
	}
}
