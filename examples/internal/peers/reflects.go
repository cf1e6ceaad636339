package peers

import (
	"context"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// reflects is a rewrite of a parent that first answers a minibatch. It gives way to a merge that is due.
type reflects struct {
	population.Rewrite
	pool *pool
	on   func(*population.View) eval.Evaluator // the minibatch; nil means none
}

// perfect is the score of a case that needs no reflection, where no case has more.
const perfect = 1

// exceeded reports whether any member scores above perfect in a case. Scores then have another scale, and its maximum
// is unknown.
func exceeded(members []*population.Member) bool {
	return slices.ContainsFunc(members, func(m *population.Member) bool {
		return slices.ContainsFunc(m.Result.Cases, func(score float64) bool { return score > perfect })
	})
}

// allPerfect reports whether each case of a minibatch is perfect.
func allPerfect(cases []float64) bool {
	return len(cases) > 0 && !slices.ContainsFunc(cases, func(score float64) bool { return score != perfect })
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
	scaled := exceeded(v.All.Members())
	b.Prepare = func(ctx context.Context, ask task.Ask) (task.Ask, string, error) {
		parent := ask.Parents[0]
		r, err := v.Evaluate(ctx, o.on(v), parent.Program)
		switch {
		case err != nil:
			return ask, "", err
		case r.Valid && !scaled && allPerfect(r.Cases):
			return ask, "there is nothing to reflect on: its parent is perfect on the minibatch", nil
		case len(r.Artifacts) > 0:
			parent.Result.Metrics, parent.Result.Artifacts = r.Metrics, r.Artifacts
		}
		ask.Parents = append([]eval.Candidate{parent}, ask.Parents[1:]...)
		return ask, "", nil
	}
	return b
}

// String names the operator.
func (o reflects) String() string {
	if o.on == nil {
		return o.Name()
	}
	return o.Name() + " on a minibatch"
}
