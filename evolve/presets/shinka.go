package presets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// Shinka has an archive of the 40 best programs on two islands without migration, drawn uniformly, parents weighted by
// score and few children (λ = 10), and three kinds of patch in fixed shares, 0.6 diff, 0.3 full and 0.1 cross. Shown
// are the best of all islands, if it is on the parent's, or else any there, and the best of the others there. A cross
// is with one of these. Programs that are too like another one are refused at a similarity of 0.99. Each call has a
// temperature of 0, 0.5 or 1: clear Config.Temperatures where a model has its own. While nothing is valid, invalid
// programs are repaired.
func Shinka(c population.Config) population.Config {
	islands := &population.Islands{}
	for _, l := range newElites(40, 2) {
		islands.Of = append(islands.Of, l)
	}
	c.Archive, c.Islands, c.Select = islands, bandit.Random{}, population.Weighted(10)
	c.Operators = []population.Operator{
		patch{Operator: population.Rewrite{Label: "diff", Form: task.AsDiff, Show: shownHere}},
		patch{Operator: population.Rewrite{Label: "full", Form: task.AsWhole, Show: shownHere,
			Instruction: "Write a different program for the task, to raise the score."}},
		patch{Operator: crossed{population.Cross{Select: population.Uniform()}}},
		patch{Operator: population.Repair{Select: population.Uniform()}, mends: true},
	}
	c.Temperatures = []float64{0, 0.5, 1}
	c.Gates = []population.Gate{&population.Unlike{Most: 0.99}}
	return drawn(c, bandit.Shares{0.6, 0.3, 0.1, 0.6}, nil) // the last one when the others cannot, and only then
}

// shownHere shows two programs of the parent's island.
func shownHere(v *population.View) []task.Section {
	return []task.Section{population.Inspirations(v.Part.(*shore).context(v.Parent, v.Rand)...)}
}

// patch is an operator. One that mends makes children while nothing is valid, and the others do else.
type patch struct {
	population.Operator
	mends bool
}

// Able reports whether the operator can make a child, and its time is now.
func (o patch) Able(v *population.View) bool {
	return o.mends == v.Part.(*shore).broken(v) && population.Able(o.Operator, v)
}

func (o patch) String() string {
	if o.mends {
		return o.Name()
	}
	return o.Name() + " beside others"
}

// crossed is a cross with one of the programs that are shown to other operators, and the others shown too.
type crossed struct{ population.Cross }

func (o crossed) Able(v *population.View) bool {
	return slices.ContainsFunc(v.Part.Members(),
		func(m population.Member) bool { return m.Result.Valid && m.ID != v.Parent.ID })
}

func (o crossed) Brief(v *population.View) evolve.Brief {
	shown := v.Part.(*shore).context(v.Parent, v.Rand)
	i := v.Rand.IntN(len(shown))
	o.Select = the(shown[i])
	b := o.Cross.Brief(v)
	b.Sections = []task.Section{population.Inspirations(slices.Delete(shown, i, i+1)...)}
	return b
}

// Elites are ShinkaEvolve's archive: the best programs of all islands together. A newcomer replaces the worst if it is
// strictly better.
//
// Source: shinka/database/dbase.py, _update_archive_fitness.
type elites struct {
	most int
	list residents
}

// A shore is the part of the archive that is on one island.
type shore struct {
	*elites
	at  int
	all []population.Member // those that were given to it, in the archive or not
}

// newElites returns an archive of so many programs on so many islands.
func newElites(most, islands int) (shores []*shore) {
	e := &elites{most: most}
	for i := range islands {
		shores = append(shores, &shore{elites: e, at: i})
	}
	return shores
}

// Add gives m to the island, and to the archive if it is good enough.
func (s *shore) Add(m population.Member) bool {
	if population.Replace(s.all, m) {
		return s.here().replace(m)
	}
	s.all = append(s.all, m)
	if !m.Result.Valid {
		return false
	}
	r := &resident{Member: m, island: s.at}
	if len(s.list) == s.most {
		worst := slices.MaxFunc(s.list, byScore)
		if byScore(r, worst) >= 0 {
			return false
		}
		s.list = s.list.without(worst)
	}
	s.list = append(s.list, r)
	return true
}

// here returns those of the archive that are on the island.
func (s *shore) here() residents {
	return slices.DeleteFunc(slices.Clone(s.list), func(r *resident) bool { return r.island != s.at })
}

// Members returns those of the archive that are on the island, or if there are none all that were given to it.
func (s *shore) Members() []population.Member {
	if here := s.here(); len(here) > 0 {
		return here.members()
	}
	return s.all
}

// context returns the programs that are shown beside the parent: the best of all islands if it is on this one, or else
// any of the archive here, and the best here of those that are left. The better one is last.
//
// Source: shinka/database/inspirations.py.
func (s *shore) context(parent population.Member, r *rand.Rand) (shown []population.Member) {
	left := slices.DeleteFunc(slices.Clone(s.Members()), func(m population.Member) bool {
		return m.ID == parent.ID || !m.Result.Valid
	})
	take := func(m population.Member) {
		shown = append(shown, m)
		left = slices.DeleteFunc(left, func(k population.Member) bool { return k.ID == m.ID })
	}
	if best := s.list.top(1); len(best) > 0 && best[0].island == s.at && best[0].ID != parent.ID {
		take(best[0].Member)
	} else if len(left) > 0 {
		take(left[r.IntN(len(left))])
	}
	if len(left) > 0 {
		take(left[population.Best().Select(left, r)])
	}
	slices.SortStableFunc(shown, func(a, b population.Member) int { return population.Compare(b, a) })
	return shown
}

// broken reports whether nothing is valid, and there is something to mend.
func (s *shore) broken(v *population.View) bool { return len(s.list) == 0 && len(v.Invalid) > 0 }

func (s *shore) String() string { return fmt.Sprintf("Elites(%d, island %d)", s.most, s.at) }
