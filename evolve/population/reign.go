package population

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/llm"
)

// A reign is a bandit over the settings of a search, of which it pulls one a generation, and what it has chosen for the
// step after so many.
type reign struct {
	policy   bandit.Policy
	settings []Settings
	player   *bandit.Player
	pull     bandit.Pull
	pending  bool // the pull is not reported

	now   Settings
	steps int // -1: nothing was chosen
	err   error
}

func newReign(c Config) reign {
	return reign{policy: c.SettingsPolicy, settings: c.Settings, steps: -1}
}

// govern chooses the settings of the next step, once. They are in force from then on.
func (p *Population) govern() error {
	r := &p.reign
	if len(r.settings) == 0 || r.err != nil || r.steps == p.Steps() {
		return r.err
	}
	r.steps = p.Steps()
	r.err = fault.Guard(named("SettingsPolicy", r.policy), func() { r.draw(p.stream("meta", p.Steps()+1)) })
	return r.err
}

// draw pulls an arm. If the last pull is pending still, nothing can be learned of it: its generation was cut short, or
// no call of it was answered.
func (r *reign) draw(from *rand.Rand) {
	if r.player == nil {
		r.player = bandit.NewPlayer(r.policy, len(r.settings), from.Uint64())
	}
	if r.pending {
		_ = r.player.Cancel(r.pull.ID) // cannot fail: the pull is pending
	}
	var err error
	if r.pull, err = r.player.Draw(allOf(len(r.settings))); err != nil {
		panic(err) // the policy's probabilities are wrong, and the search names it
	}
	r.pending, r.now = true, r.settings[r.pull.Arm]
}

// learn tells the policy what the arm was worth.
func (r *reign) learn(reward float64) error {
	r.pending = false
	return r.player.Report(r.pull.ID, reward)
}

// conclude tells the policy what came of a step under its settings.
func (p *Population) conclude(gen evolve.Generation) {
	r := &p.reign
	if len(r.settings) == 0 || r.err != nil || gen.Partial {
		return
	}
	calls, ended := 0, 0 // ended are the children that tell of the search, and not of the endpoint
	for _, c := range gen.Children {
		if c.Answered() {
			calls++
		}
		if c.Answered() || !c.Asked() {
			ended++
		}
	}
	if ended == 0 {
		return
	}
	for _, a := range gen.Asides {
		if llm.ClassOf(a.Attempts) == llm.Real {
			calls++
		}
	}
	var err error
	if bad := fault.Guard(named("SettingsPolicy", r.policy), func() {
		err = r.learn(gained(gen, calls,
			p.lifts.SD()))
	}); bad != nil {
		err = bad
	}
	if err != nil {
		r.err = fmt.Errorf("population: SettingsPolicy %s: %w", nameOf(r.policy), err)
	}
}

// gained is by how much a generation has raised the best, for each call, in standard deviations of a lift:
//
//	(1/calls)·Σ min(1, max(0, score − best)/SD)
//
// over the generation's valid children, with best the search's best score when the generation began, and SD the
// standard deviation of the lifts score − parent's score of all valid children of a valid parent that the search has
// made so far, 0 for less than two. Where SD is 0 or the best was invalid, a child that is better counts 1. Without
// calls (merges alone) it is divided by the children. It is in [0, 1] unless some children were made without a call.
//
// A child is held against the best and not against its parent, because settings choose the parents: those that choose
// bad ones would be rewarded for it.
func gained(gen evolve.Generation, calls int, sd float64) float64 {
	before, sum := gen.Before, 0.0
	for _, c := range gen.Children {
		switch {
		case !c.Scored() || !c.Better(before):
		case !before.Result.Valid || sd == 0:
			sum++
		default:
			sum += min(1, (c.Result.Score-before.Result.Score)/sd)
		}
	}
	if calls == 0 {
		return sum / float64(max(len(gen.Children), 1))
	}
	return sum / float64(calls)
}

// addLift counts by how much a child is better than its parent.
func (p *Population) addLift(b Birth) {
	if len(p.cfg.Settings) > 0 && b.Result.Valid && b.Parent.Result.Valid {
		p.lifts.Add(b.Result.Score - b.Parent.Result.Score)
	}
}

// printSettings names a policy and its arms. Journals recognize a run by it.
func printSettings(policy bandit.Policy, settings []Settings) string {
	arms := make([]string, len(settings))
	for i, s := range settings {
		arms[i] = s.print()
	}
	return fmt.Sprintf("MetaBandit(%s over %s)", nameOf(policy), strings.Join(arms, ", "))
}
