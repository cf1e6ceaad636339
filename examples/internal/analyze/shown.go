package analyze

import (
	"cmp"
	"fmt"
	"slices"
)

// spread is the number of breadths of a method, beside the best one, in a figure of curves.
const spread = 4

// shown returns the method's breadths in figures of curves: all, or the one with the best final mean and some from the
// least to the largest.
func (s *study) shown() []int {
	all := s.Breadths
	if len(all) <= spread+1 {
		return all
	}
	var some []int
	for i := range spread {
		some = append(some, all[i*(len(all)-1)/(spread-1)])
	}
	some = append(some, slices.MaxFunc(all, func(a, b int) int { return compareMeans(s.deepest[a], s.deepest[b]) }))
	slices.Sort(some)
	return slices.Compact(some)
}

// compareMeans compares the mean scores that files of one method end with.
func compareMeans(a, b []file) int {
	final := func(files []file) float64 {
		var scores []float64
		for _, f := range files {
			scores = append(scores, f.Final())
		}
		return mean(scores)
	}
	return cmp.Compare(final(a), final(b))
}

// omitted returns the caption's words on omitted breadths.
func (p *problem) omitted() string {
	text := ""
	for _, s := range p.Studies {
		if n := len(s.shown()); n < len(s.Breadths) {
			text += fmt.Sprintf(" Of %s %d of %d breadths: the best at the end, and others from the least to the largest.",
				s.Method, n, len(s.Breadths))
		}
	}
	return text
}
