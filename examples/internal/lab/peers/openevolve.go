package peers

import (
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// OpenEvolve keeps the best program of each cell on each of five islands, 10 bins of length by 10 of diversity.
// A parent is uniform on its island with probability 0.2, uniform among the elite with 0.7, and else in proportion
// to max(score, 0.001). The prompt has up to 8 programs: the parent, the top 3, 2 diverse ones and 2 inspirations. The
// reply is a diff.
//
// On purpose otherwise:
//   - cells are binned by quantiles, and members move when those change; there, members stay under bins of an earlier range;
//   - the loser of a cell leaves; there, it stays on the island and breeds;
//   - diversity is the distance from the initial program; there, from 20 references that change, so that cells drift;
//   - diverse programs are uniform from the island; there, they are those of ranks 4 and 5 by score;
//   - the elite are a tenth of the island; there, 100 of at most 1000 programs on all islands;
//   - copies migrate to the next island every 50 children of all islands; there, to both neighbours, by generations of one.
//
// There is no cascade of evaluations: that is the task's.
func OpenEvolve(s Setting) population.Config {
	var islands []population.Archive
	for range 5 {
		islands = append(islands, &population.Grid{Features: func(c eval.Candidate) []float64 {
			return []float64{float64(len(c.Program)), distance(s.Task.Initial(), c.Program)}
		}})
	}
	c := s.config()
	c.Archive = &population.Islands{Of: islands, Every: 50, Rate: 0.1}
	c.Select = population.Choice(0.2, population.Uniform(),
		population.Choice(0.7/0.8, population.Elite(0.1), population.ByWeight(fitness)))
	c.Operators = []population.Operator{population.Rewrite{Form: task.AsDiff,
		Show: func(v *population.View) []*population.Member {
			members := v.Part.Members()
			return distinct(v.Sample(members, population.Uniform(), 2+2), v.Sample(members, population.Best(), 3))
		}}}
	return c
}

// fitness is a score as the chance of a roulette wheel. Scores below 0 all have the same small one.
func fitness(m *population.Member) float64 { return max(m.Result.Score, 0.001) }

// distance is OpenEvolve's of two programs: 0.1 times the difference in length, 10 times that in lines, and half of the
// number of characters that one of them has alone.
func distance(a, b string) float64 {
	ofA, ofB := characters(a), characters(b)
	alone := without(ofA, ofB) + without(ofB, ofA)
	return 0.1*math.Abs(float64(len(a)-len(b))) + 10*math.Abs(float64(strings.Count(a, "\n")-strings.Count(b, "\n"))) +
		0.5*float64(alone)
}

// characters returns the characters of text.
func characters(text string) map[rune]bool {
	set := map[rune]bool{}
	for _, r := range text {
		set[r] = true
	}
	return set
}

// without returns how many characters of a are not in b.
func without(a, b map[rune]bool) (n int) {
	for r := range a {
		if !b[r] {
			n++
		}
	}
	return n
}
