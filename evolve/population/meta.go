package population

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A Meta chooses the settings of each generation, and learns from what came of it: evolution of the evolution. It is
// called on the goroutine of the search. Give each Population one of its own.
type Meta interface {
	// Next returns the settings of the next generation. It draws from r alone, which is a stream of the generation's own.
	// If it is called again without a Learn, nothing can be learned of the settings between: the generation was cut short,
	// or no call of it was answered.
	Next(r *rand.Rand) Settings
	// Learn is told of the generation that was made under what Next returned last. An error ends the search.
	Learn(t Trial) error
}

// A Trial is a generation that was made under settings.
type Trial struct {
	Settings   Settings
	Generation evolve.Generation
	Calls      int // answered, of the children and beside them
	// SD is the standard deviation s of the lifts l = score − parent's score of all valid children of a valid parent that
	// the search has made so far, those of this generation included:
	//
	//	s² = Σ(l − l̄)²/(n − 1)
	//
	// It is 0 for n < 2.
	SD float64
}

// gained is by how much a generation has raised the best, for each call, in standard deviations of a lift:
//
//	(1/calls)·Σ min(1, max(0, score − best)/SD)
//
// over the generation's valid children, with best the search's best score when the generation began. Where SD is 0 or the
// best was invalid, a child that is better counts 1. Without calls (merges alone) it is divided by the children. It is in
// [0, 1] unless some children were made without a call.
//
// A child is held against the best and not against its parent, because settings choose the parents: those that choose bad
// ones would be rewarded for it.
func gained(t Trial) float64 {
	before, sum := t.Generation.Before, 0.0
	for _, c := range t.Generation.Children {
		switch {
		case !c.Scored() || !c.Better(before):
		case !before.Result.Valid || t.SD == 0:
			sum++
		default:
			sum += min(1, (c.Result.Score-before.Result.Score)/t.SD)
		}
	}
	if t.Calls == 0 {
		return sum / float64(max(len(t.Generation.Children), 1))
	}
	return sum / float64(t.Calls)
}

// reward returns what of says of a trial, gained if it is nil.
func reward(of func(Trial) float64, t Trial) (float64, error) {
	if of == nil {
		of = gained
	}
	r := of(t)
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return 0, fmt.Errorf("population: the reward of the settings %s is %v: need a finite number", t.Settings.label(), r)
	}
	return r, nil
}

// A reign is what a Meta has chosen for the step after so many.
type reign struct {
	now   Settings
	steps int // -1: nothing was chosen
	err   error
}

// govern has the Meta choose the settings of the next step, once. They are in force from then on.
func (p *Population) govern() error {
	if p.cfg.Meta == nil || p.reign.err != nil || p.reign.steps == p.Steps() {
		return p.reign.err
	}
	p.reign.steps = p.Steps()
	var s Settings
	err := guard(named("Meta", p.cfg.Meta), func() { s = p.cfg.Meta.Next(p.stream("meta", p.Steps()+1)) })
	if err == nil {
		if err = s.check(p.cfg); err != nil {
			err = fmt.Errorf("population: Meta %s: %w", nameOf(p.cfg.Meta), err)
		}
	}
	if p.reign.err = err; err == nil {
		p.reign.now = s
	}
	return err
}

// conclude tells the Meta what came of a step under its settings.
func (p *Population) conclude(gen evolve.Generation) {
	if p.cfg.Meta == nil || gen.Partial {
		return
	}
	t := Trial{Settings: p.reign.now, Generation: gen, SD: p.lifts.SD()}
	ended := 0 // children that tell of the search, and not of the endpoint
	for _, c := range gen.Children {
		if c.Answered() {
			t.Calls++
		}
		if c.Answered() || !c.Asked() {
			ended++
		}
	}
	if ended == 0 {
		return
	}
	for _, a := range gen.Asides {
		if a.Class() == llm.Real {
			t.Calls++
		}
	}
	var err error
	if bad := guard(named("Meta", p.cfg.Meta), func() { err = p.cfg.Meta.Learn(t) }); bad != nil {
		err = bad
	}
	if err != nil {
		p.reign.err = fmt.Errorf("population: Meta %s: %w", nameOf(p.cfg.Meta), err)
	}
}

// addLift counts by how much a child is better than its parent.
func (p *Population) addLift(b Birth) {
	if p.cfg.Meta != nil && b.Result.Valid && b.Parent.Result.Valid {
		p.lifts.Add(b.Result.Score - b.Parent.Result.Score)
	}
}
