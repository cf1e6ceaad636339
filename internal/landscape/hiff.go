package landscape

import "math/rand/v2"

// hiff has 64 words of two, in lines of four. With words as bits, the right ones as 0, a block of 2, 4, ..., 64 words
// in a row that begins at a multiple of its length adds its length if its bits are equal:
//
//	score = Σ over blocks with equal bits of length / 384
//
// (R. Watson et al., "Modeling Building-Block Interdependency", 1998). Blocks have two right forms each, and only
// some fit together, so a search that goes up ends where large blocks would have to be turned at once.
func hiff(r *rand.Rand) landscape {
	zero := randomWords(16, 4, 2, r).flat()
	return landscape{
		initial: randomWords(16, 4, 2, r), model: able(2),
		judge: scored(func(s sheet) float64 { return blocks(s.flat(), zero) }),
	}
}

// blocks returns the score of words, where zero are those that count as 0.
func blocks(words, zero []string) float64 {
	bits := make([]int, len(words)) // -1: the block has both
	for i, word := range words {
		if word != zero[i] {
			bits[i] = 1
		}
	}
	sum, most := 0, 0
	for length := 2; length <= len(words); length *= 2 {
		half := bits
		bits = make([]int, len(half)/2)
		for i := range bits {
			bits[i] = half[2*i]
			if half[2*i] != half[2*i+1] {
				bits[i] = -1
			}
			if bits[i] >= 0 {
				sum += length
			}
			most += length
		}
	}
	return float64(sum) / float64(most)
}
