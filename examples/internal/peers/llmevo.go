package peers

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
// reward is the score less that of the better parent, in standard deviations of the initial program's score, and an
// invalid child counts as that program.
//
// On purpose otherwise:
//   - without a Spread the reward is whether the child is better than its parent: in a task without noise there is no
//     such deviation;
//   - insights are notes that are kept while they help; there, a summary that is written anew after each step;
//   - directions are those of [population.Explore], beside a parent; there, one instruction, and no parent;
//   - a partner is another program, which counts for the reward of a cross alone; there, it may be the parent itself,
//     and counts whatever the operator;
//   - a program is shown once in a prompt, and the best last; there, first;
//   - scores are on one scale; there, those of the first programs stay as they are, and others are in deviations.
func LLMEvo(s Setting) population.Config {
	t := &tribe{most: 8}
	c := s.config()
	c.Archive = t
	c.Operators = []population.Operator{
		member{population.Rewrite{Label: "mutate", Show: t.sections}, t},
		member{population.Cross{}, t},
		member{population.Explore{Show: t.sections}, t},
		member{population.Rewrite{Label: "insights", Show: func(v *population.View) []task.Section {
			return append(t.sections(v), v.Sections...)
		}}, t},
	}
	c.Policy, c.Credit = &router{priors: []float64{0.5, 0.1, 0.3, 0.1}}, population.Improved
	if s.Spread > 0 {
		c.Credit = func(b population.Birth) (float64, bool) { return t.reward(b, s.Spread) }
	}
	c.Memory = []population.Memory{&population.Scratchpad{Every: 16, Most: 5}}
	return c
}

// A tribe is LLM-Evo's archive, and what it shows.
//
// Source: llm-evo/core/evolve.py.
type tribe struct {
	most  int
	list  []*population.Member // the best first, of equals the older
	step  int
	full  []*population.Member // the parents of this step, and what was added since it began
	shown []*population.Member
	start float64 // the initial program's score
}

var _ population.Archive = (*tribe)(nil)

// Add keeps m if it is among the best.
func (t *tribe) Add(m *population.Member) bool {
	if m.ID == 0 {
		t.start = m.Result.Score
	}
	t.full = append(t.full, m)
	t.list = ranking(append(t.list, m))
	t.list = t.list[:min(t.most, len(t.list))]
	return slices.Contains(t.list, m)
}

// ranking returns the members by score.
func ranking(members []*population.Member) []*population.Member {
	ranked := slices.Clone(members)
	slices.SortStableFunc(ranked, func(a, b *population.Member) int {
		return byScore(&resident{Member: a}, &resident{Member: b})
	})
	return ranked
}

// Members returns those that are kept.
func (t *tribe) Members() []*population.Member { return t.list }

// String names the archive and its size.
func (t *tribe) String() string { return fmt.Sprintf("Tribe(%d)", t.most) }

// begin chooses what a step shows, when its first child is briefed.
func (t *tribe) begin(v *population.View) {
	if v.Step == t.step {
		return
	}
	ranked := ranking(t.full)
	n := len(ranked)
	t.shown = slices.Concat(ranked[:min(3, n)], ranked[max(0, n-2):])
	if n >= 7 {
		for _, i := range v.Rand.Perm(n - 5)[:2] {
			t.shown = append(t.shown, ranked[3+i])
		}
	}
	t.step, t.full = v.Step, slices.Clone(t.list)
}

// show returns what is shown beside a parent, each program once.
func (t *tribe) show(v *population.View) []*population.Member {
	seen := map[string]bool{v.Parent.Program: true}
	var shown []*population.Member
	for _, m := range t.shown {
		if !seen[m.Program] {
			seen[m.Program] = true
			shown = append(shown, m)
		}
	}
	return shown
}

// sections shows the programs.
func (t *tribe) sections(v *population.View) []task.Section {
	return []task.Section{bestLast(t.show(v))}
}

// bestLast returns the section of programs that begin with the best.
func bestLast(shown []*population.Member) task.Section {
	slices.Reverse(shown)
	return population.Inspirations(shown...)
}

// reward returns what a child was worth.
func (t *tribe) reward(b population.Birth, spread float64) (float64, bool) {
	if b.Asked() && !b.Answered() {
		return 0, false
	}
	parent := b.Parent.Result.Score
	for _, m := range t.full {
		if slices.Contains(b.Parents, m.ID) {
			parent = max(parent, m.Result.Score)
		}
	}
	score := t.start
	if b.Scored() && b.Result.Valid {
		score = b.Result.Score
	}
	return min(max((score-parent)/spread, -math.MaxFloat64), math.MaxFloat64), true
}

// member is an operator on the parent whose turn it is.
type member struct {
	population.Operator
	tribe *tribe
}

const childrenEach = 2

// Able reports whether the operator can make a child.
func (o member) Able(v *population.View) bool {
	a, ok := o.Operator.(interface{ Able(*population.View) bool })
	return !ok || a.Able(v)
}

// Brief makes the child.
func (o member) Brief(v *population.View) evolve.Brief {
	o.tribe.begin(v)
	members := v.Part.Members()
	v.Parent = members[v.Index/childrenEach%len(members)]
	b := o.Operator.Brief(v)
	if _, crosses := o.Operator.(population.Cross); crosses {
		beside := slices.DeleteFunc(o.tribe.show(v), func(m *population.Member) bool { return m.ID == b.From[1] })
		b.Sections = []task.Section{bestLast(beside)}
	}
	return b
}

// String names the operator.
func (o member) String() string { return o.Name() + " beside others" }

// A router draws operators by p ∝ prior·exp(mean/0.3), with a mean of 0 before the first reward.
//
// Source: llm-evo/utils/router.py, OpBandit.
type router struct {
	priors []float64
	seen   bandit.Tally
}

var _ bandit.Policy = (*router)(nil)

// Probs fills p.
func (b *router) Probs(p []float64, r bandit.Round) {
	const tau = 0.3
	top := math.Inf(-1)
	for i, open := range r.Open {
		if open {
			top = max(top, b.seen.Mean(i))
		}
	}
	sum := 0.0
	for i := range p {
		if r.Open[i] {
			p[i] = b.prior(i) * math.Exp((b.seen.Mean(i)-top)/tau)
			sum += p[i]
		}
	}
	for i := range p {
		p[i] /= sum
	}
}

// prior returns that of an operator; one that was added has the least.
func (b *router) prior(i int) float64 {
	if i < len(b.priors) {
		return b.priors[i]
	}
	return slices.Min(b.priors)
}

// Update takes in a reward.
func (b *router) Update(pull bandit.Pull, reward float64) { b.seen.Add(pull.Arm, reward) }

// String names the policy.
func (b *router) String() string { return fmt.Sprintf("Router(%v)", b.priors) }
