package searches

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
)

// relay is a portfolio whose members hand on the best program: one that is drawn and is behind the best of all begins
// anew from that, with what else it kept lost. So what one has found is not found again by the others, and a budget
// that is split is not lost; in return members come to be alike.
//
// Where scores are noisy, a program is handed on once it has been scored three times, so members have to score programs
// again (rescored). One that was lucky once would otherwise take the place of all that the members have.
//
// Since all have the same best, the policy is told whether a pull raised it: 1 or 0.
func relay(name string, policy policyMaker, members ...compare.Search) compare.Search {
	return compare.Search{Name: name, Make: func(s compare.Setting) (evolve.Config, error) {
		cfg := evolve.Config{Policy: policy(s.Calls), Reward: raised}
		shared := &baton{noisy: s.Noisy}
		for i, m := range members {
			make := func(start *eval.Candidate) (evolve.Arm, error) {
				at := fork(s, i)
				at.Start = start
				return armOf(m, at)
			}
			arm, err := make(nil)
			if err != nil {
				return evolve.Config{}, fmt.Errorf("searches: %s: %w", name, err)
			}
			member := &runner{arm: arm, make: make, shared: shared}
			shared.members = append(shared.members, member)
			cfg.Arms = append(cfg.Arms, member)
		}
		return cfg, nil
	}}
}

// raised is 1 for a step that raised its search's best score, and else 0. It fits evolve.Config.Reward.
func raised(g evolve.Generation) float64 {
	if g.Best.Better(g.Before) {
		return 1
	}
	return 0
}

// A baton is what the members of a relay have in common: each other.
type baton struct {
	members []*runner
	noisy   bool
}

// best returns the best program of all members that have begun, and whether it may be handed on. It is asked for each
// step, since the best of a search that scores its programs again may fall.
func (b *baton) best() (best eval.Candidate, ok bool) {
	for _, m := range b.members {
		if c := m.arm.Best(); m.stepped && b.sure(c) && (!ok || c.Better(best)) {
			best, ok = c, true
		}
	}
	return best, ok
}

// sure reports whether a score is more than one lucky evaluation's.
func (b *baton) sure(c eval.Candidate) bool { return !b.noisy || c.Result.N() >= 3 }

// A runner is a member of a relay.
type runner struct {
	arm     evolve.Arm
	make    func(start *eval.Candidate) (evolve.Arm, error)
	shared  *baton
	stepped bool
}

// Step takes over the best program of all if it is better, and lets the member go on.
func (r *runner) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	if start, ok := r.shared.best(); ok && start.Better(r.arm.Best()) {
		arm, err := r.make(&start)
		if err != nil {
			return evolve.Generation{}, err
		}
		r.arm = arm
	}
	r.stepped = true
	return r.arm.Step(ctx, turn)
}

// Unwrap returns the member as it is now, so that a run knows whether its task is noisy.
func (r *runner) Unwrap() evolve.Arm { return r.arm }

// Best returns the member's.
func (r *runner) Best() eval.Candidate { return r.arm.Best() }

// Done reports whether the member is.
func (r *runner) Done() bool { return r.arm.Done() }

// Calls returns how many the member's next step would like.
func (r *runner) Calls() int {
	if s, ok := r.arm.(evolve.Sizer); ok {
		return s.Calls()
	}
	return 1
}

// Start begins the member.
func (r *runner) Start(ctx context.Context, turn *evolve.Turn) error {
	if s, ok := r.arm.(evolve.Starter); ok {
		return s.Start(ctx, turn)
	}
	return nil
}
