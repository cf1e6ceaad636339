package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Populations are searches that keep more than one program, each with rewrite, explore and cross under the default bandit
// unless it says otherwise.
//
//   - history: a parent from all programs with chance 0.2, else the best; rewrite and explore
//   - power-law: parents by rank from the best 40
//   - weighted: parents by score and by few children (ShinkaEvolve) from the best 40
//   - cells: the best program of each structure (MAP-Elites), parents by rank
//   - fronts: the best programs of each case, parents by how many cases they lead, merges besides (GEPA)
//   - shown: softmax with the three best programs shown beside the parent
//   - scratchpad: softmax with notes on what has worked
//   - rescore: softmax, with two of the best eight programs scored again for each child where scores are noisy
func Populations() []Search {
	return []Search{
		Of("history", func(Setting) population.Config {
			return population.Config{Archive: &population.All{Most: 1000}, Select: population.EpsilonGreedy(0.2), Operators: rewriteOrExplore()}
		}),
		PowerLaw("power-law", population.Cross{}),
		Of("weighted", func(Setting) population.Config {
			return population.Config{Archive: population.Top(40), Select: population.Weighted(10), Operators: rewriteExploreOrCross()}
		}),
		Of("cells", func(Setting) population.Config {
			return population.Config{Archive: &population.Grid{Cell: structure}, Select: population.PowerLaw(1), Operators: rewriteExploreOrCross()}
		}),
		Of("fronts", func(Setting) population.Config {
			return population.Config{Archive: &population.Fronts{}, Select: population.FrontFrequency{},
				Operators: append(rewriteExploreOrCross(), &population.Merge{})}
		}),
		showing("shown", false),
		Scratchpad("scratchpad", &population.Scratchpad{}),
		Rescore(),
	}
}

// Rescored returns the search that is one population, and that scores two of its best eight programs again for each child
// where scores are noisy. Without an archive of its own it then keeps the best eight programs, because one that turns out to have been
// lucky has to give way to one that is still there.
func Rescored(name string, configure func(s Setting) population.Config) Search {
	return Of(name, func(s Setting) population.Config {
		c := configure(s)
		if !s.Noisy {
			return c
		}
		if c.Archive == nil {
			c.Archive = population.Top(8)
		}
		c.Rescore, c.Keep = 2, 8
		return c
	})
}

// PowerLaw returns the search with parents by rank from the best 40, and with cross as its way to combine programs.
func PowerLaw(name string, cross population.Cross) Search {
	return Of(name, func(Setting) population.Config { return byRank(cross) })
}

func byRank(cross population.Cross) population.Config {
	return population.Config{Archive: population.Top(40), Select: population.PowerLaw(1), Operators: append(rewriteOrExplore(), cross)}
}

// Scratchpad returns softmax with a scratchpad like pad, of which each run has its own.
func Scratchpad(name string, pad *population.Scratchpad) Search {
	return Of(name, func(Setting) population.Config {
		return population.Config{Operators: rewriteOrExplore(), Memory: []population.Memory{&population.Scratchpad{
			Every: pad.Every, Most: pad.Most, Show: pad.Show, New: pad.New, Trial: pad.Trial, LLM: pad.LLM, Shuffled: pad.Shuffled,
		}}}
	})
}

// showing returns softmax with three programs shown beside the parent: the best ones, or copies of the parent.
func showing(name string, copies bool) Search {
	show := func(v *population.View) []*population.Member {
		if copies {
			return []*population.Member{v.Parent, v.Parent, v.Parent}
		}
		return v.Sample(v.Part.Members(), population.Best{}, 3)
	}
	return Of(name, func(Setting) population.Config {
		return population.Config{Archive: population.Top(4), Select: population.Best{},
			Operators: []population.Operator{population.Rewrite{Show: show}, population.Explore{Show: show}}}
	})
}

// Placebos are searches with a part that has its costs and its prompts, and not what it is for. What a part gains over its
// placebo, it gains; the rest its prompts and the extra calls do.
//
//   - self-cross: power-law, where programs are crossed with themselves
//   - shuffled: scratchpad, told of attempts with each other's outcomes
//   - copies: shown, with copies of the parent in place of the best programs
func Placebos() []Search {
	return []Search{
		PowerLaw("self-cross", population.Cross{Self: true}),
		Scratchpad("shuffled", &population.Scratchpad{Shuffled: true}),
		showing("copies", true),
	}
}

// structure is what a program consists of but for its numbers, in at most as many cells as a grid of a few hundred calls
// can fill: all words where there are numbers among them, the first words of the first two lines where there are none,
// and where there are numbers alone the quarter of the square that the first two points are in.
func structure(c eval.Candidate) string {
	s := read(c.Program)
	var words, firsts []string
	numbersAlone := true
	hasNumbers := false
	for i, line := range s {
		for _, word := range line {
			if isNumber(word) {
				hasNumbers = true
				continue
			}
			numbersAlone = false
			words = append(words, word)
		}
		if i < 2 {
			firsts = append(firsts, line[0])
		}
	}
	switch {
	case numbersAlone:
		return quarters(s)
	case hasNumbers:
		return strings.Join(words, " ")
	}
	return strings.Join(firsts, " ")
}

// quarters says where the first two points are.
func quarters(s sheet) string {
	var b strings.Builder
	for _, line := range s[:min(2, len(s))] {
		for _, v := range numbers(line) {
			fmt.Fprintf(&b, "%v ", math.Floor(2*v))
		}
	}
	return b.String()
}
