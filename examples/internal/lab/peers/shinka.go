package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// Shinka has two islands without migration, parents weighted by score and few children (λ = 10), and three kinds of
// patch in fixed shares, 0.6 diff, 0.3 full and 0.1 cross. One program of the archive and the best are shown, the best last.
// Programs that are too like another one are refused at a similarity of 0.99. Every 10 children a model notes what was
// learned; at most 5 notes are kept and each child is shown one.
//
// On purpose otherwise:
//   - similarity is that of token shingles, which asks nobody; there, the cosine of embeddings, on the parent's island;
//   - a program that is refused has spent its call; there, up to 9 more proposals are made of which no budget knows;
//   - the archive of 40 is two of 20, one for each island; there, one for all;
//   - a note that does not help is dropped, and none is rewritten; there, insights are merged anew each time by three calls;
//   - a cross is shown a note as well.
//
// Its bandit over models is llm/ensemble's. It evolves its system prompts too, which this does not.
func Shinka(s Setting) population.Config {
	show := func(v *population.View) []*population.Member {
		members := v.Part.Members()
		return distinct(v.Sample(members, population.Uniform(), 1), v.Sample(members, population.Best(), 1))
	}
	c := s.config()
	c.Archive = &population.Islands{Of: []population.Archive{population.Top(20), population.Top(20)}}
	c.Select = population.Weighted(10)
	c.Operators = []population.Operator{
		population.Rewrite{Label: "diff", Form: task.AsDiff, Show: show},
		population.Rewrite{Label: "full", Form: task.AsWhole, Show: show,
			Instruction: "Write a different program for the task, to raise the score."},
		population.Cross{},
	}
	c.Policy = bandit.Shares{0.6, 0.3, 0.1}
	c.Gates = []population.Gate{&population.Unlike{Most: 0.99}}
	c.Memory = []population.Memory{&population.Scratchpad{Every: 10, Most: 5, Show: 1}}
	return c
}
