package searches

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/task"
)

// populations are searches that keep more than one program, each with rewrite, explore and cross under the default
// bandit unless it says otherwise.
//
//   - history: a parent from all programs with chance 0.2, else the best; rewrite and explore
//   - power-law: parents by rank from the best 40
//   - weighted: parents by score and by few children (ShinkaEvolve) from the best 40
//   - cells: the best program of each structure (MAP-Elites), parents by rank
//   - fronts: the best programs of each case, parents by how many cases they lead, merges besides (GEPA)
//   - shown: softmax with the three best programs shown beside the parent
//   - scratchpad: softmax with notes on what has worked
//   - rescore: softmax, with two of the best eight programs scored again for each child where scores are noisy
func populations() []compare.Search {
	return []compare.Search{
		compare.Population("history", func(compare.Setting) population.Config {
			return population.Config{Archive: population.All(1000),
				Select: population.Choice(0.2, population.Uniform(), population.Best()), Operators: rewriteOrExplore()}
		}),
		powerLaw("power-law", population.Cross{}),
		compare.Population("weighted", func(compare.Setting) population.Config {
			return population.Config{Archive: population.Top(40), Select: population.Weighted(10),
				Operators: rewriteExploreOrCross()}
		}),
		compare.Population("cells", func(compare.Setting) population.Config {
			return population.Config{Archive: &population.Grid{Cell: structure}, Select: population.PowerLaw(1),
				Operators: rewriteExploreOrCross()}
		}),
		compare.Population("fronts", func(compare.Setting) population.Config {
			return population.Config{Archive: population.Fronts(), Select: population.FrontFrequency(),
				Operators: append(rewriteExploreOrCross(), &population.Merge{})}
		}),
		showing("shown", false),
		scratchpad("scratchpad", false),
		rescore(),
	}
}

// rescored returns the search that is one population, and that scores two of its best eight programs again for each
// child where scores are noisy. Without an archive of its own it then keeps the best eight programs, because one that
// turns out to have been lucky has to give way to one that is still there.
func rescored(name string, configure func(s compare.Setting) population.Config) compare.Search {
	return compare.Population(name, func(s compare.Setting) population.Config {
		c := configure(s)
		size := 1
		if s.Noisy {
			size = 8
			c.Noise = &evolve.Noise{Rescore: 2, Keep: size, Fresh: -1}
		}
		if c.Archive == nil {
			c.Archive = population.Top(size)
		}
		return c
	})
}

// powerLaw returns the search with parents by rank from the best 40, and with cross as its way to combine programs.
func powerLaw(name string, cross population.Cross) compare.Search {
	return compare.Population(name, func(compare.Setting) population.Config { return byRank(cross) })
}

func byRank(cross population.Cross) population.Config {
	return population.Config{Archive: population.Top(40), Select: population.PowerLaw(1),
		Operators: append(rewriteOrExplore(), cross)}
}

// scratchpad returns softmax with a scratchpad.
func scratchpad(name string, shuffled bool) compare.Search {
	return compare.Population(name, func(compare.Setting) population.Config {
		return population.Config{Archive: population.Top(1), Operators: rewriteOrExplore(),
			Memory: []population.Memory{&population.Scratchpad{Shuffled: shuffled}}}
	})
}

// showing returns softmax with three programs shown beside the parent: the best ones, or copies of the parent.
func showing(name string, copies bool) compare.Search {
	show := func(v *population.View) []task.Section {
		if copies {
			return []task.Section{population.Inspirations(v.Parent, v.Parent, v.Parent)}
		}
		return []task.Section{population.Inspirations(v.Sample(v.Part.Members(), population.Best(), 3)...)}
	}
	return compare.Population(name, func(compare.Setting) population.Config {
		return population.Config{Archive: population.Top(4), Select: population.Best(),
			Operators: []population.Operator{population.Rewrite{Show: show}, population.Explore{Show: show}}}
	})
}

// placebos are searches with a part that has its costs and its prompts, and not what it is for. What a part gains over
// its placebo, it gains; the rest its prompts and the extra calls do.
//
//   - self-cross: power-law, where programs are crossed with themselves
//   - shuffled: scratchpad, told of attempts with each other's outcomes
//   - copies: shown, with copies of the parent in place of the best programs
func placebos() []compare.Search {
	return []compare.Search{
		powerLaw("self-cross", population.Cross{Self: true}),
		scratchpad("shuffled", true),
		showing("copies", true),
	}
}

// structure is the cell of a program.
func structure(c eval.Candidate) string { return landscape.Structure(c.Program) }
