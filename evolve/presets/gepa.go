package presets

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/task"
)

// GEPA keeps every program that it accepts, draws a parent by the number of cases at which it is the best of those
// that are needed, has it answer a fresh minibatch of three train cases, and asks for a rewrite that reflects on these.
// A parent that is perfect on them, with a score of 1 in each while no program has more in any, is not rewritten. Of a
// prompt in named parts one part is rewritten in turn. A child is scored on the same minibatch first, and on the
// validation cases, whose fronts count, if it is strictly better there than its parent. After a child that was accepted
// two programs that are needed are merged without a model, if they have a common ancestor, until five merges are
// accepted. A merge is if it is at least as good as both on five validation cases.
//
// Of a step of more than 16 children that many are under way, and each that ends makes room for the next, unless
// Config.Window says otherwise. So which ends first decides what is asked for next, and the journal alone repeats a run.
//
// What it needs of the task: scores by case (eval.Result.Cases), else the best program alone is drawn, and nothing is
// merged; and [Minibatches], else every child is scored on all cases, and the prompt has the feedback of the parent's
// own evaluation.
func GEPA(c population.Config) population.Config {
	p := &pool{seed: c.Seed}
	c.Archive, c.Select = p, population.Fronts()
	r := reflects{population.Rewrite{Label: "reflect", Instruction: reflection, InTurn: true}, p, nil}
	if m, ok := task.As[Minibatches](c.Task); ok {
		r.on = func(v *population.View) eval.Evaluator { return m.Minibatch(v.Birth, 3) }
		c.Gates = []population.Gate{unmerged{population.Screen{On: r.on}, p}}
	}
	c.Operators = []population.Operator{&merges{pool: p}, r}
	if c.Window == 0 && c.N > 16 { // a brief needs the pool of then, and not that of a step's end
		c.Window, c.Order = 16, evolve.AsTheyEnd
	}
	return drawn(c, bandit.Shares{0.5, 0.5}, nil) // only one of them can
}

const reflection = "Read the feedback, say what went wrong and why, and rewrite the program so that it does not " +
	"happen again."

// Minibatches is what a task has that scores a program on a few of its cases.
type Minibatches interface {
	// Minibatch returns the evaluator of n cases, the i-th batch of them. It returns the same value for the same i. What a
	// result says of the cases, its artifacts, is shown to the model that rewrites.
	Minibatch(i, n int) eval.Evaluator
}

// reflects is a rewrite of a parent that first answers a minibatch. It gives way to a merge that is due.
type reflects struct {
	population.Rewrite
	pool *pool
	on   func(*population.View) eval.Evaluator // the minibatch; nil means none
}

// Able reports whether the operator may make the child. It may not while a merge is due.
func (o reflects) Able(*population.View) bool { return !o.pool.now }

// Brief has the parent answer the minibatch before the prompt is written. The prompt shows that in place of what the
// parent's own evaluation said.
//
// Source: gepa/proposer/reflective_mutation/reflective_mutation.py, propose.
func (o reflects) Brief(v *population.View) evolve.Brief {
	b := o.Rewrite.Brief(v)
	if o.on == nil {
		return b
	}
	const perfect = 1
	// Where a score is above, scores have another scale, whose maximum is unknown.
	scaled := slices.ContainsFunc(v.All.Members(), func(m population.Member) bool {
		return slices.ContainsFunc(m.Result.Cases, func(score float64) bool { return score > perfect })
	})
	b.Prepare = func(ctx context.Context, ask task.Request) (task.Request, string, error) {
		parent := ask.Parents[0]
		r, err := v.Evaluate(ctx, o.on(v), parent.Program)
		if err != nil {
			return ask, "", err
		}
		wrong := slices.ContainsFunc(r.Cases, func(score float64) bool { return score != perfect })
		if r.Valid && !scaled && len(r.Cases) > 0 && !wrong {
			return ask, "there is nothing to reflect on: its parent is perfect on the minibatch", nil
		}
		if len(r.Artifacts) > 0 {
			parent.Result.Metrics, parent.Result.Artifacts = r.Metrics, r.Artifacts
		}
		ask.Parents = append([]eval.Candidate{parent}, ask.Parents[1:]...)
		return ask, "", nil
	}
	return b
}

func (o reflects) String() string {
	if o.on == nil {
		return o.Name()
	}
	return o.Name() + " on a minibatch"
}

// A pool is GEPA's archive: every program that was accepted, and when to merge two of them.
type pool struct {
	seed  uint32
	list  []population.Member // the oldest first
	due   int                 // merges that programs were accepted for, less those that were accepted
	done  int                 // merges that were accepted
	found bool                // a program was accepted since the last try to merge
	now   bool                // the child that is briefed is a merge
	made  sync.Map            // births of merges
}

// The bounds of merging.
const (
	mostMerges  = 5
	mergedCases = 5 // on which a merge is judged, and that its parents must have
	mergedTries = 10
)

// Add keeps m, unless it is a merge that is worse than one of its parents on some cases.
func (p *pool) Add(m population.Member) bool {
	switch {
	case population.Replace(p.list, m):
		return true
	case m.Operator == "merge":
		if !p.accepts(m) {
			return false
		}
		p.due--
		p.done++
	case m.ID > 0:
		p.found = true
		if p.done < mostMerges {
			p.due++
		}
	}
	p.list = append(p.list, m)
	return true
}

func (p *pool) Members() []population.Member { return p.list }

func (p *pool) String() string { return "Pool" }

// accepts reports whether a merge is at least as good as each of its parents on some cases.
func (p *pool) accepts(m population.Member) bool {
	var scores [][]float64 // of the parents, and then of m
	for _, k := range append(slices.Clone(p.list), m) {
		if slices.Contains(m.Parents, k.ID) || k.ID == m.ID {
			scores = append(scores, k.Cases())
		}
	}
	if len(scores) != 3 {
		return false
	}
	var sums [3]float64
	for _, c := range judged(scores[0], scores[1], stream.New(uint64(p.seed), "gepa merge", uint64(m.ID))) {
		for i, of := range scores {
			if c >= len(of) { // a case that m has no score of
				return false
			}
			sums[i] += of[c]
		}
	}
	return sums[2] >= max(sums[0], sums[1])
}

// judged draws the cases on which a merge is judged: up to two at which the first parent is better, two at which the
// second is, one at which neither is, and any others while there are too few.
//
// Source: gepa/proposer/merge.py, select_eval_subsample_for_merged_program.
func judged(first, second []float64, r *rand.Rand) (cases []int) {
	var better [3][]int // the first, the second, neither
	n := min(len(first), len(second))
	for c := range n {
		k := 2
		if first[c] > second[c] {
			k = 0
		} else if second[c] > first[c] {
			k = 1
		}
		better[k] = append(better[k], c)
	}
	take := func(from []int, n int) {
		for _, i := range r.Perm(len(from))[:min(n, len(from))] {
			cases = append(cases, from[i])
		}
	}
	for _, from := range better {
		take(from, min(2, mergedCases-len(cases)))
	}
	var left []int
	for c := range n {
		if !slices.Contains(cases, c) {
			left = append(left, c)
		}
	}
	take(left, mergedCases-len(cases))
	return cases
}

// merges is a merge of two needed members of a pool, when one is due.
type merges struct {
	population.Merge
	pool *pool
}

// Able looks for a pair, once after each program that was accepted.
func (o *merges) Able(v *population.View) bool {
	p := o.pool
	due := p.due > 0 && p.found
	p.now, p.found = false, false
	if !due {
		return false
	}
	var needed []population.Member
	at, _ := population.Needed(p.list)
	for _, i := range at {
		if len(p.list[i].Cases()) >= mergedCases {
			needed = append(needed, p.list[i])
		}
	}
	if len(needed) < 2 {
		return false
	}
	among := *v
	among.Part = &pool{list: needed}
	for range mergedTries {
		among.Parent = needed[v.Rand.IntN(len(needed))]
		if p.now = o.Merge.Able(&among); p.now {
			return true
		}
	}
	return false
}

// Brief makes the child of the pair that Able found.
func (o *merges) Brief(v *population.View) evolve.Brief {
	o.pool.made.Store(v.Birth, true)
	return o.Merge.Brief(v)
}

// unmerged screens all but merges, which the pool judges.
type unmerged struct {
	population.Screen
	pool *pool
}

// Admit admits merges, and screens others.
func (g unmerged) Admit(ctx context.Context, v *population.View, program string) (why string, err error) {
	if _, ok := g.pool.made.Load(v.Birth); ok {
		return "", nil
	}
	return g.Screen.Admit(ctx, v, program)
}
