package presets

import (
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// LLMEvo keeps the 8 best programs, each of which is the parent of two children of a step. A bandit over four operators
// weighs a prior by exp(mean reward/0.3): mutate, cross, explore in a direction written by hand, and insights, a
// rewrite with notes. Shown are the three best of the last step and of its parents, the two worst, and two more. The
// reward is whether a child is better than its parent.
func LLMEvo(c population.Config) population.Config {
	t := &tribe{Archive: population.Top(8)}
	c.Archive = t
	c.Operators = []population.Operator{
		inOrder{population.Rewrite{Label: "mutate", Show: t.sections}, t},
		inOrder{population.Cross{}, t},
		inOrder{population.Explore{Show: t.sections}, t},
		inOrder{population.Rewrite{Label: "insights", Show: func(v *population.View) []task.Section {
			return append(t.sections(v), v.Sections...)
		}}, t},
	}
	c.Memory = []population.Memory{&population.Scratchpad{Every: 16, Most: 5}}
	return drawn(c, &router{priors: []float64{0.5, 0.1, 0.3, 0.1}}, population.Improved)
}

// A tribe is LLM-Evo's archive, and what it shows.
//
// Source: llm-evo/core/evolve.py.
type tribe struct {
	population.Archive
	step  int
	full  []population.Member // the parents of this step, and what was added since it began
	shown []population.Member
}

func (t *tribe) Add(m population.Member) bool {
	if !population.Replace(t.full, m) {
		t.full = append(t.full, m)
	}
	return t.Archive.Add(m)
}

func (t *tribe) String() string { return "Tribe(8)" }

// begin chooses what a step shows, when its first child is briefed.
func (t *tribe) begin(v *population.View) {
	if v.Step == t.step {
		return
	}
	all := slices.Clone(t.full)
	slices.SortStableFunc(all, population.Compare)
	n := len(all)
	t.shown = slices.Concat(all[:min(3, n)], all[max(0, n-2):])
	if n >= 7 {
		for _, i := range v.Rand.Perm(n - 5)[:2] {
			t.shown = append(t.shown, all[3+i])
		}
	}
	t.step, t.full = v.Step, slices.Clone(t.Members())
}

// sections shows programs beside a parent, the best last.
func (t *tribe) sections(v *population.View) []task.Section { return t.sectionsBut(v, -1) }

// sectionsBut shows them but for the one with an ID.
func (t *tribe) sectionsBut(v *population.View, id int) []task.Section {
	shown := slices.DeleteFunc(once(v.Parent, t.shown), func(m population.Member) bool { return m.ID == id })
	slices.Reverse(shown)
	return []task.Section{population.Inspirations(shown...)}
}

// inOrder is an operator on the parent whose turn it is.
type inOrder struct {
	population.Operator
	tribe *tribe
}

func (o inOrder) Able(v *population.View) bool { return population.Able(o.Operator, v) }

func (o inOrder) Brief(v *population.View) evolve.Brief {
	o.tribe.begin(v)
	members := v.Part.Members()
	v.Parent = members[v.Index/2%len(members)]
	b := o.Operator.Brief(v)
	if _, crosses := o.Operator.(population.Cross); crosses {
		b.Sections = o.tribe.sectionsBut(v, b.From[1])
	}
	return b
}

func (o inOrder) String() string { return o.Name() + " beside others" }

// A router draws operators by p ∝ prior·exp(mean/0.3), with a mean of 0 before the first reward.
//
// Source: llm-evo/utils/router.py, OpBandit.
type router struct {
	priors []float64
	seen   bandit.Tally
}

// Probs fills p. An operator that was added has the least prior.
func (b *router) Probs(p []float64, r bandit.Round) {
	top := math.Inf(-1)
	for i, open := range r.Open {
		if open {
			top = max(top, b.seen.Mean(i))
		}
	}
	least, sum := slices.Min(b.priors), 0.0
	for i := range p {
		if r.Open[i] {
			prior := least
			if i < len(b.priors) {
				prior = b.priors[i]
			}
			p[i] = prior * math.Exp((b.seen.Mean(i)-top)/0.3)
			sum += p[i]
		}
	}
	for i := range p {
		p[i] /= sum
	}
}

func (b *router) Update(pull bandit.Pull, reward float64) { b.seen.Add(pull.Arm, reward) }

func (b *router) String() string { return fmt.Sprintf("Router(%v)", b.priors) }
