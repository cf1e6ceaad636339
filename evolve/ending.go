package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// take takes an outcome in. It adds the outcome to the result first, so that what was paid for is there whatever
// the policy or a hook does next. Then it tells the policy.
func (d *driver) take(ctx context.Context, o outcome) {
	p := o.pull
	delete(d.pending, p.Arm)
	d.complete(&o)
	round, before := &d.res.Rounds[p.round], d.evalTime
	round.Generation = d.add(p.Arm, &o.gen, o.Scored)
	round.Best = d.res.Best.Result.Score
	whole := o.err == nil
	d.learn(p.Pull, &o.gen, d.evalTime-before, whole, d.cfg.Budget.Models)
	out := d.outcomeOf(o, whole)
	d.scored += max(len(o.gen.Children), out.Calls)
	for _, c := range o.gen.Children {
		if c.Proposer != "" && len(d.cfg.Arms) > 1 {
			spent := spentOn(c, d.cfg.Budget.Models)
			d.shared.lessons = append(d.shared.lessons, lesson{p.Arm, c.Proposer, c.Propensity, c.Credit, spent})
		}
	}
	d.judge(&o)
	d.fail(ctx, d.untold(o))
	report, err := d.core.Take(out)
	if !report {
		// Also if a whole step ended when the run had stopped: which came first is chance, and no journal tells.
		o.gen.Partial = true
		d.res.Arms[p.Arm].Generations[round.Generation].Partial = true
	}
	switch {
	case err != nil:
		d.stop(allocation.Error, "", err)
	case report: // false for a whole step too, if the run stopped before its outcome was in
		d.report(p, round, o)
	case !whole:
		d.fail(ctx, o.err)
	}
	d.observe(Event{Kind: EventGeneration, Pull: p.Pull, Generation: o.gen, Reward: round.Reward})
	if d.core.Reached() {
		d.stop(allocation.Target, "", nil)
	}
}

// complete fills in what an arm left out of a generation, and from the file how long a step took that ended then.
func (d *driver) complete(o *outcome) {
	arm := &d.res.Arms[o.pull.Arm]
	o.gen.Index = cmp.Or(o.gen.Index, len(arm.Generations)+1)
	if o.gen.Before.Program == "" {
		o.gen.Before = arm.Best
	}
	if o.gen.Best.Program == "" {
		o.gen.Best = o.gen.Before
		for _, c := range o.gen.Children {
			if c.Scored() && c.Better(o.gen.Best) {
				o.gen.Best = c.Candidate
			}
		}
	}
	if o.pull.past.Ended {
		o.gen.Elapsed = o.pull.past.Took // not the time that reading it took
	}
}

// outcomeOf returns what the core has to know of an outcome.
func (d *driver) outcomeOf(o outcome, whole bool) allocation.Outcome {
	calls, stalls := counted(o.gen)
	out := allocation.Outcome{Pull: o.pull.ID, Calls: calls, Stalls: stalls, Evaluations: o.gen.Evaluations,
		Whole: whole, Best: scoreOf(o.gen.Best)}
	// A limit that bound before it was raised does not bind now. The core would stop the run by it again.
	if d.shared.Journal == nil || !d.shared.Journal.RaisedLater() {
		out.Limit = o.gen.Limit
	}
	return out
}

// report tells the policy the reward of a pull and records it. The record comes last: in replay it says that
// everything the pull asked for is in the file, and from then on no call of it is made for real.
func (d *driver) report(p pull, round *Round, o outcome) {
	err := d.reward(p, round, o.gen)
	if err == nil {
		err = d.decide(record.Record{Kind: record.Report, Pull: &p.ID, Reward: round.Reward, Bred: o.Took})
	}
	if err != nil {
		d.stop(allocation.Error, "", err)
	}
}

// reward computes the reward of a step and tells the policy.
func (d *driver) reward(p pull, round *Round, gen Generation) error {
	// A negated loss of 0 is -0, which JSON leaves out like 0, so that equal runs would differ. Adding 0 makes it 0.
	if err := step.Guard("Config.Reward", func() { round.Reward = d.cfg.Reward(gen) + 0 }); err != nil {
		return err
	}
	if r := round.Reward; (r < 0 || r > 1) && !d.warned && !bandit.AnyScale(d.cfg.Policy) {
		d.warned = true
		slog.Warn("evolve: a reward outside of [0, 1], where the policy expects it: see bandit.Rescale", "reward", r)
	}
	return guard("Policy.Update", func() error {
		if err := d.core.Report(p.ID, round.Reward); err != nil {
			round.Reward = 0 // the policy was told nothing, and a NaN could not be saved as JSON
			return fmt.Errorf("evolve: round %d: %w", p.round, err)
		}
		return nil
	})
}

// untold tells of the children of an outcome that no Breeder told of.
func (d *driver) untold(o outcome) error {
	for _, c := range o.gen.Children {
		b := birth{child: c, step: o.gen.Index}
		if o.Told[c.address()] {
			continue
		}
		if err := d.shared.record(o.pull.ID, o.pull.past, b); err != nil {
			return err
		}
		d.observe(b.event(o.pull.Pull))
	}
	return nil
}

// fail ends the run because a step failed, if err says so. If it failed only because the run was coming to an end, the
// reason is that end. A panic is a mistake in somebody's code, so it is reported even then.
func (d *driver) fail(ctx context.Context, err error) {
	why, _ := d.core.Ended()
	var panicked *step.Panic
	switch {
	case err == nil:
	case errors.As(err, &panicked), step.OfJournal(err): // reported even if something else ends the run
		d.stop(allocation.Error, "", err)
		d.err = cmp.Or(d.err, err)
	case why != "":
	case errors.Is(err, step.ErrWallTime):
		d.stop(allocation.Budget, wallTime, nil)
	case ctx.Err() != nil:
		d.stop(allocation.Canceled, "", nil)
	default:
		d.stop(allocation.Error, "", err)
	}
}

// interrupted ends the run because its context ended: the caller's, or that of steps, by the budget's time.
func (d *driver) interrupted(steps context.Context) {
	if errors.Is(context.Cause(steps), step.ErrWallTime) {
		d.stop(allocation.Budget, wallTime, nil)
	} else {
		d.stop(allocation.Canceled, "", nil)
	}
}

// stop ends the run. The first reason stands. A stop that is final is a decision and is recorded in the journal.
// A stop by Ctrl-C or an error is not: the run can go on, and then ends for another reason. Recorded as a
// decision, it would make every later incarnation end at the same place.
func (d *driver) stop(why allocation.Why, limit string, err error) {
	if was, _ := d.core.Ended(); was != "" && d.res.Stop != "" {
		return
	}
	d.core.End(why, limit)
	d.res.Stop, d.res.Limit, d.err = Stop(why), limit, err
	switch why {
	case allocation.Canceled, allocation.Error:
		return
	}
	// A stop that is not on disk is none: resumed, the run would go on although its caller had a final result.
	if err := d.decide(record.Record{Kind: record.Stop, Stop: string(why), Limit: limit, Asides: d.asides}); err != nil {
		d.res.Stop, d.res.Limit, d.err = StopError, "", err
	}
}

// finish completes the result.
func (d *driver) finish(ctx, steps context.Context) (*Result, error) {
	close(d.shared.gone)
	if err := d.claim(ctx, steps); err != nil && d.err == nil {
		d.res.Stop, d.err = StopError, err
	}
	paused := d.res.Stop == StopCanceled || d.res.Stop == StopError
	if j := d.shared.Journal; j != nil {
		// The first error stands: one of the journal here may follow from it.
		if err := d.closeJournal(j, paused); err != nil && d.err == nil {
			d.res.Stop, d.err = StopError, err
		}
	}
	d.res.Elapsed = d.elapsed()
	d.observe(Event{Kind: EventStop, Stop: d.res.Stop})
	return d.res, panicked(d.err)
}

// closeJournal records a pause, and adds to the result what earlier incarnations paid for that no generation holds.
// Answers that were not asked for again count only if the run is over, as a paused one may yet ask.
func (d *driver) closeJournal(j *record.Journal, paused bool) (err error) {
	if paused {
		spent := d.shared.Ledger.Record()
		err = j.Pause(string(d.res.Stop), d.err, &spent)
	}
	d.res.Behind = paused && j.Behind()
	var bad error
	if d.res.Earlier, bad = j.Earlier(!paused); bad != nil {
		err = cmp.Or(err, bad)
	}
	if n := len(d.res.Earlier.Unclaimed); n > 0 {
		slog.Warn("evolve: answers that were paid for were not asked for again after a kill, and are lost: "+
			"the requests of a search depend on more than its seeds and the answers",
			"calls", n, "journal", j.Path())
	}
	return err
}

// keepsMargin returns an error if the limit on evaluators' time in the journal left room for fewer fresh samples than
// the one now. These come off Budget.Evaluations, so the journal's steps would have other numbers of children.
func (d *driver) keepsMargin(then journal.Fingerprint) error {
	b := d.cfg.Budget
	was, err := time.ParseDuration(then["Budget.EvalTime"])
	if err != nil || b.Evaluations == 0 { // not limited
		return nil
	}
	b.EvalTime = was
	fresh := marginOf(d.cfg.Arms, b).fresh
	if fresh == d.margin.fresh {
		return nil
	}
	return fmt.Errorf("evolve: journal %s: %w: Budget.EvalTime was %v, which left %d of %d Evaluations for fresh samples "+
		"of the best, and %s leaves %d: raise it to less than %v, or begin anew with another journal",
		d.shared.Journal.Path(), journal.ErrDiverged, was, fresh, b.Evaluations,
		orNone(d.cfg.Budget.EvalTime), d.margin.fresh, 4*time.Duration(fresh+1)*b.EvalWorst)
}

// claim scores the run's best on fresh samples, if its arm is noisy, once no pull is pending. Result.Fresh has them,
// and Result.Unconfirmed says why some are missing. It returns an error of the journal alone.
func (d *driver) claim(ctx, steps context.Context) error {
	d.shared.Ledger.Release()
	arm, ok := as[claimant](d.cfg.Arms[d.res.BestArm])
	if !ok || arm.noise() == nil {
		return nil
	}
	n := min(arm.noise().Fresh, d.margin.fresh)
	if n <= 0 {
		return nil
	}
	ctx, end := d.closing(ctx, steps)
	defer end()
	if d.res.Unconfirmed = d.unclaimed(ctx); d.res.Unconfirmed != "" {
		return nil
	}
	turn := d.turn(pull{Pull: bandit.Pull{ID: -1, Arm: d.res.BestArm}}, math.MaxInt, ctx)
	turn.step.Claiming = true
	var r eval.Result
	err := guard("the claim of the best arm", func() (err error) {
		r, err = arm.claim(turn.step.Within(ctx), turn, d.res.Best.Program, n)
		return err
	})
	noted := turn.step.Account()
	d.apart(d.res.BestArm, noted)
	if r.Valid || r.Reason != "" {
		d.res.Fresh = &r
	}
	if err != nil {
		d.res.Unconfirmed = err.Error()
	}
	if step.OfJournal(err) || step.OfJournal(noted.Fatal) {
		return cmp.Or(err, noted.Fatal)
	}
	return nil
}

// closing returns the context of fresh samples. A run that was canceled has what is left of the grace period for them,
// one whose time is over a grace period. Any other has the caller's context, and a grace period if that ends.
func (d *driver) closing(ctx, steps context.Context) (context.Context, context.CancelFunc) {
	if d.res.Stop == StopCanceled {
		return steps, func() {}
	}
	if d.res.Limit == wallTime && !d.wasOver {
		return context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Grace)
	}
	return step.Clock{Grace: d.cfg.Grace}.Steps(ctx)
}

// unclaimed says why the best cannot be scored again, "" if it can.
func (d *driver) unclaimed(ctx context.Context) string {
	_, replaying := d.replaying()
	switch {
	case d.res.Stop == StopError:
		return "the run ended with an error"
	case !d.res.Best.Result.Valid:
		return "the best program is not valid"
	case replaying:
		return "the run was stopped before it had caught up with its journal"
	case ctx.Err() != nil, d.cfg.Grace == 0 && d.res.Stop == StopCanceled:
		return fmt.Sprintf("the run was stopped, and its grace period of %v is over", d.cfg.Grace)
	}
	return ""
}
