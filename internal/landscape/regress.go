package landscape

import (
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
)

// regress has 24 words of four in six lines, and 24 cases. A case looks at three of the words, and passes for the right
// three and for 0.3 of the other combinations. The score is the share of cases that pass. A change that makes one case
// pass makes others fail.
func regress(r *rand.Rand) landscape {
	const words, cases = 4, 24
	right := randomWords(6, 4, words, r).flat()
	all := make([]clause, cases)
	for i := range all {
		all[i] = newClause(right, 0.3, r)
	}
	return landscape{initial: randomWords(6, 4, words, r), model: able(words), judge: func(s sheet) eval.Result {
		list, flat := make([]float64, len(all)), s.flat()
		for i, c := range all {
			if c.passes[c.of(flat)] {
				list[i] = 1
			}
		}
		return byCase(list)
	}}
}

// A clause is a case that looks at three places, and the words there with which it passes.
type clause struct {
	at     [3]int
	passes map[[3]string]bool
}

func newClause(right []string, share float64, r *rand.Rand) clause {
	c := clause{at: [3]int(r.Perm(len(right))[:3]), passes: map[[3]string]bool{}}
	for _, a := range repertoire[:4] {
		for _, b := range repertoire[:4] {
			for _, d := range repertoire[:4] {
				c.passes[[3]string{a, b, d}] = r.Float64() < share
			}
		}
	}
	c.passes[c.of(right)] = true
	return c
}

// of returns the words that the case looks at.
func (c clause) of(words []string) [3]string {
	return [3]string{words[c.at[0]], words[c.at[1]], words[c.at[2]]}
}
