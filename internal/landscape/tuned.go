package landscape

import (
	"math/rand/v2"
	"slices"
)

// tuned has three lines of a word, which is an idea, and three numbers x, which tune it. Idea k of a line can be worth
// up to c, of 0.3 to 0.9 and 1 for the best, with its numbers at o:
//
//	worth = c·(0.4 + 0.6/(1 + 20·|x − o|²))
//
// and the score is the mean over lines. A new idea has default numbers, so a good one is mostly worse than a tuned one
// at first.
func tuned(r *rand.Rand) landscape {
	const ideas = 6
	lines := []map[string]idea{randomIdeas(ideas, 3, r), randomIdeas(ideas, 3, r), randomIdeas(ideas, 3, r)}
	initial := make(sheet, len(lines))
	for i := range initial {
		initial[i] = []string{repertoire[r.IntN(ideas)], defaultNumber, defaultNumber, defaultNumber}
	}
	return landscape{initial: initial, model: able(ideas), judge: scored(func(s sheet) float64 {
		sum := 0.0
		for i, line := range s {
			sum += lines[i][line[0]].worth(numbers(line))
		}
		return sum / float64(len(s))
	})}
}

// An idea is what it is worth at most, and with which numbers.
type idea struct {
	most float64
	at   []float64
}

func (d idea) worth(x []float64) float64 {
	square := 0.0
	for i, v := range x {
		square += (v - d.at[i]) * (v - d.at[i])
	}
	return d.most * (0.4 + 0.6/(1+20*square))
}

// randomIdeas returns n ideas with so many numbers each, by their words.
func randomIdeas(n, numbers int, r *rand.Rand) map[string]idea {
	all, best := map[string]idea{}, r.IntN(n)
	for k, word := range slices.All(repertoire[:n]) {
		d := idea{most: 0.3 + 0.6*r.Float64()}
		if k == best {
			d.most = 1
		}
		for range numbers {
			d.at = append(d.at, r.Float64())
		}
		all[word] = d
	}
	return all
}
