package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A driver does what the core of the allocation decides: it makes each decision durable and then acts on it.
// It steps each pull's arm on a goroutine of its own, and has the clock, the journal and the result. One
// goroutine, that of [Run], owns it.
//
// The core decides the same whenever it is told the same in the same order. So a run is resumed by making it
// again: the driver asks the core as before, compares each decision with the file, and lets outcomes wait until
// it is their turn there. Nobody who writes a policy or an arm has to save its state.
type driver struct {
	account
	cfg     Config
	core    *allocation.Core
	shared  *shared
	begun   time.Time
	pending map[int]pull // by arm
	streaks []streak     // calls in a row that failed, by arm
	err     error        // with which the run ends

	ended chan outcome
	early []outcome     // that wait for their turn in replay
	idle  chan struct{} // holds a value when a place for model calls was seen free
	queue queue
}

// A pull is a step that is being made.
type pull struct {
	bandit.Pull
	round int // its place in Result.Rounds
	past  journal.Past
}

func newDriver(cfg Config) *driver {
	d := &driver{
		account: newAccount(cfg.Arms),
		cfg:     cfg,
		core:    allocation.New(allocation.Config{Arms: len(cfg.Arms), Policy: cfg.Policy, Seed: cfg.Seed, Limits: cfg.Budget.limits()}),
		shared:  &shared{ledger: newLedger(cfg.Budget), journal: cfg.Journal, programs: newPrograms()},
		begun:   time.Now(),
		pending: make(map[int]pull),
		streaks: make([]streak, len(cfg.Arms)),
		ended:   make(chan outcome),
		idle:    make(chan struct{}, 1),
	}
	d.queue.idle = d.idle
	d.shared.queued = d.queue.queued
	if err := d.open(); err != nil {
		d.stop(allocation.Error, "", err)
	}
	return d
}

// open books what earlier incarnations spent, and compares what this one is given, before anything is drawn: a
// run with other settings has nothing to do with the answers in the file.
func (d *driver) open() error {
	j := d.cfg.Journal
	if j == nil {
		return nil
	}
	now := d.cfg.fingerprint()
	if err := j.Raise(now, func(limit string, then journal.Fingerprint) bool { return raises(limit, then, now) }); err != nil {
		return err
	}
	if err := j.Decide(journal.Record{Kind: journal.Run, Fingerprint: now}); err != nil {
		return err
	}
	spent, err := j.Abandoned()
	d.shared.ledger.earlier(spent)
	return err
}

// run starts the arms, and draws pulls and takes their outcomes in until there is a reason to stop.
func (d *driver) run(ctx context.Context) (*Result, error) {
	steps, end := d.begin(ctx)
	defer end()
	d.start(ctx, steps)
	for {
		d.fill(ctx, steps)
		if len(d.pending) == 0 {
			return d.finish()
		}
		if d.unwanted() {
			end()
		}
		if o, ok := d.await(steps); ok {
			d.take(ctx, o)
		} else {
			d.draw(ctx, steps)
		}
	}
}

// unwanted reports whether what is pending is to be given up at once. A run that was canceled gives it the grace
// period, and one that was over gets it from its journal.
func (d *driver) unwanted() bool {
	switch why, _ := d.core.Ended(); why {
	case "", allocation.Canceled:
		return false
	case allocation.Error:
		return true
	}
	return !d.over()
}

// start lets each arm evaluate what it begins with. That is before the first draw, so that the result has a row
// 0 of arms that were never drawn, and an evaluator that does not work shows before a model is paid.
func (d *driver) start(ctx, steps context.Context) {
	if ctx.Err() != nil {
		d.interrupted(steps)
	}
	begin, past := d.beginning(steps)
	for i, arm := range d.cfg.Arms {
		s, ok := arm.(Starter)
		if why, _ := d.core.Ended(); !ok || why != "" {
			continue
		}
		st := d.step(pull{Pull: bandit.Pull{ID: -1, Arm: i}, past: past}, begin)
		turn := &Turn{step: st, calls: math.MaxInt}
		var err error
		if bad := guard(fmt.Sprintf("Start of arm %d", i), func() { err = s.Start(turn.within(begin), turn) }); bad != nil {
			err = bad
		}
		spent, err := st.started(err)
		d.core.Spent(d.account.start(i, spent, st.scored))
		d.notStarted(ctx, begin, spent.Limit, err)
		if why, _ := d.core.Ended(); why == "" {
			d.account.begin(i, arm.Best())
		}
	}
	d.valid()
	for i := range d.cfg.Arms {
		d.core.Begin(scoreOf(d.res.Arms[i].Best))
	}
}

// beginning returns the context in which arms start, and what the journal tells of that. Starts stand before the
// first decision that is made again, so what they wait for must not be one.
func (d *driver) beginning(steps context.Context) (context.Context, journal.Past) {
	next, replaying := d.replaying()
	switch {
	case replaying && next.Kind == journal.Draw:
		return steps, journal.Past{Ended: true}
	case replaying && next.Kind == journal.Stop && next.Limit == wallTime:
		// The time was over before an arm was drawn. What is not in the file was given up then.
		over, end := context.WithCancelCause(steps)
		end(errWallTime)
		return over, journal.Past{}
	}
	return steps, journal.Past{}
}

// notStarted ends the run because of an error of an arm's Start, or of the limit that left no room for what it
// asked, if there is one.
func (d *driver) notStarted(ctx, begin context.Context, limit string, err error) {
	switch {
	case err == nil && limit == "":
	case err == nil:
		d.stop(allocation.Budget, limit, nil)
	case errors.Is(context.Cause(begin), errWallTime): // whatever the arm makes of it
		d.fail(ctx, errors.Join(err, errWallTime))
	default:
		d.fail(ctx, err)
	}
}

// valid ends the run if an arm begins with an invalid program, and it must not.
func (d *driver) valid() {
	for i, arm := range d.res.Arms {
		if r := arm.Start.Result; d.cfg.ValidStart && !r.Valid && r.Reason != "" {
			d.stop(allocation.Error, "", fmt.Errorf("evolve: %w: arm %d: %s", ErrInvalidStart, i, r.Reason))
		}
	}
}

// step returns the record of what a step of p does.
func (d *driver) step(p pull, steps context.Context) *step {
	return &step{shared: d.shared, pull: p.ID, past: p.past, failing: &d.streaks[p.Arm], over: func() bool { return steps.Err() != nil }}
}

// fill begins pulls until InFlight are under way or none can be drawn now. In replay it begins those that an
// earlier incarnation began here.
func (d *driver) fill(ctx, steps context.Context) {
	for {
		next, replaying := d.replaying()
		if replaying && next.Kind == journal.Stop && next.Limit == wallTime { // no decision of the core's: time is not replayed
			d.stop(allocation.Budget, wallTime, nil)
		}
		draws := next.Kind == journal.Draw || next.Kind == journal.Stop
		if replaying && !draws || !replaying && len(d.pending) >= d.cfg.InFlight || !d.draw(ctx, steps) {
			return
		}
	}
}

// replaying returns the decision that an earlier incarnation made here, if there is one.
func (d *driver) replaying() (journal.Record, bool) {
	if d.cfg.Journal == nil {
		return journal.Record{}, false
	}
	return d.cfg.Journal.Next()
}

// draw asks the core what to do, and does it. It reports whether a pull was begun.
func (d *driver) draw(ctx, steps context.Context) bool {
	if ctx.Err() != nil || steps.Err() != nil {
		d.interrupted(steps)
	}
	var decision allocation.Decision
	var err error
	if bad := guard("Policy.Probs, or an arm's Done or Calls,", func() { decision, err = d.core.Next(d.arms(), 0) }); bad != nil {
		err = bad
	}
	switch {
	case err != nil:
		d.stop(allocation.Error, "", err)
	case decision.Kind == allocation.Stop:
		d.stop(decision.Why, decision.Limit, nil)
	case decision.Kind == allocation.Draw:
		return d.pull(decision, steps)
	}
	return false
}

// arms asks each arm that is not being stepped what the core has to know. Of one that is not even Done may be
// asked, as its Step runs on another goroutine.
func (d *driver) arms() []allocation.Arm {
	_, over := d.core.Ended()
	arms := make([]allocation.Arm, len(d.cfg.Arms))
	for i, arm := range d.cfg.Arms {
		if _, pending := d.pending[i]; !pending && over == "" {
			arms[i] = about(arm)
		}
	}
	return arms
}

// about is what the core has to know of an arm.
func about(arm Arm) (a allocation.Arm) {
	if a.Done = arm.Done(); a.Done {
		return a
	}
	if s, ok := arm.(Sizer); ok {
		a.Calls = s.Calls()
	}
	return a
}

// pull makes a draw durable and begins its step. If it cannot be made durable, the step is not begun: what it
// would pay for could not be told from another pull's.
func (d *driver) pull(decision allocation.Decision, steps context.Context) bool {
	p := pull{Pull: decision.Pull, round: len(d.res.Rounds)}
	if d.cfg.Journal != nil {
		p.past = d.cfg.Journal.Past()
	}
	d.pending[p.Arm] = p
	d.res.Rounds = append(d.res.Rounds, Round{Pull: p.Pull, Partial: true}) // until its outcome is in
	if err := d.decide(journal.Record{Kind: journal.Draw, Pull: &p.ID, Arm: &p.Arm, Prob: p.Prob, Calls: decision.Calls}); err != nil {
		delete(d.pending, p.Arm)
		d.res.Rounds = d.res.Rounds[:p.round]
		d.stop(allocation.Error, "", err)
		return false
	}
	d.observe(Event{Kind: EventDraw, Pull: p.Pull})
	go d.stepArm(p, decision.Most, steps)
	return true
}

// stepArm steps the arm of p and sends the outcome.
func (d *driver) stepArm(p pull, calls int, steps context.Context) {
	s := d.step(p, steps)
	o := outcome{pull: p, err: fmt.Errorf("evolve: Step of arm %d ended its goroutine", p.Arm)}
	defer func() { // in that case too
		o.gen, o.err = s.close(o.gen, o.err)
		o.scored = s.scored
		d.ended <- o
	}()
	turn := &Turn{step: s, calls: calls}
	var gen Generation
	var err error
	if bad := guard(fmt.Sprintf("Step of arm %d", p.Arm), func() { gen, err = d.cfg.Arms[p.Arm].Step(turn.within(steps), turn) }); bad != nil {
		err = bad
	}
	o.gen, o.err = gen, err
}

// await returns the outcome to be taken in next: the first that comes, or in replay the one that an earlier
// incarnation took in, while others wait. Once the run stops, what is left is taken in by the order of draws,
// so that replay does the same. It reports false if a place for model calls stands idle instead, and one
// more arm may be advanced to fill it.
func (d *driver) await(steps context.Context) (outcome, bool) {
	next, replaying := d.replaying()
	for {
		why, _ := d.core.Ended()
		for i, o := range d.early {
			if why == "" && (!replaying || next.Kind == journal.Report && o.pull.ID == *next.Pull) {
				d.early = slices.Delete(d.early, i, i+1)
				return o, true
			}
		}
		if why != "" && len(d.early) == len(d.pending) {
			slices.SortFunc(d.early, func(a, b outcome) int { return cmp.Compare(a.pull.ID, b.pull.ID) })
			o := d.early[0]
			d.early = d.early[1:]
			return o, true
		}
		var idle <-chan struct{}
		if why == "" && !replaying && d.cfg.InFlight > 1 && len(d.pending)/2 < d.cfg.InFlight {
			idle = d.idle
		}
		select {
		case o := <-d.ended:
			d.early = append(d.early, o)
			if o.err != nil && errors.Is(context.Cause(steps), errWallTime) {
				// Before it is taken in, whatever the arm makes of it: replay stops first, too.
				d.stop(allocation.Budget, wallTime, nil)
			}
		case <-idle:
			return outcome{}, false
		}
	}
}

// take takes an outcome in: into the result first, so that what was paid for is there whatever the policy or a
// hook does next, and then to the policy.
func (d *driver) take(ctx context.Context, o outcome) {
	p := o.pull
	delete(d.pending, p.Arm)
	d.complete(&o)
	round := &d.res.Rounds[p.round]
	round.Generation = d.add(p.Arm, &o.gen, o.scored)
	round.Best = d.res.Best.Result.Score
	round.Partial = o.gen.Partial
	whole := o.err == nil
	report, err := d.core.Take(d.outcomeOf(o, whole))
	switch {
	case err != nil:
		d.stop(allocation.Error, "", err)
	case report:
		d.report(p, round, o.gen)
	case !whole:
		d.fail(ctx, o.err)
	}
	d.observe(Event{Kind: EventGeneration, Pull: p.Pull, Generation: o.gen, Reward: round.Reward})
	if d.core.Reached() {
		d.stop(allocation.Target, "", nil)
	}
}

// complete fills in what an arm leaves out of a step that failed, and how long one took that is in the file.
func (d *driver) complete(o *outcome) {
	arm := &d.res.Arms[o.pull.Arm]
	if o.gen.Best.Program == "" {
		o.gen.Before, o.gen.Best = arm.Best, arm.Best
	}
	o.gen.Index = cmp.Or(o.gen.Index, len(arm.Generations)+1)
	if o.pull.past.Ended {
		o.gen.Elapsed = o.pull.past.Took // not what it took to read it
	}
}

// outcomeOf is what the core has to know of an outcome.
func (d *driver) outcomeOf(o outcome, whole bool) allocation.Outcome {
	calls, stalls := counted(o.gen)
	out := allocation.Outcome{Pull: o.pull.ID, Calls: calls, Stalls: stalls, Evaluations: o.gen.Evaluations, Whole: whole, Best: scoreOf(o.gen.Best)}
	if d.cfg.Journal == nil || !d.cfg.Journal.RaisedLater() {
		out.Limit = o.gen.Limit
	}
	return out
}

// report tells the policy how a pull went.
func (d *driver) report(p pull, round *Round, gen Generation) {
	round.Partial = false
	err := d.reward(p, round, gen)
	if err == nil {
		err = d.children(p, gen)
	}
	if err == nil {
		err = d.decide(journal.Record{Kind: journal.Report, Pull: &p.ID, Reward: round.Reward})
	}
	if err != nil {
		d.stop(allocation.Error, "", err)
	}
}

// reward asks for the reward of a step and tells the policy.
func (d *driver) reward(p pull, round *Round, gen Generation) (err error) {
	if err := guard("Config.Reward", func() { round.Reward = d.cfg.Reward(gen) + 0 }); err != nil { // -0 is 0, as in the journal
		return err
	}
	if bad := guard("Policy.Update", func() { err = d.core.Report(p.ID, round.Reward) }); bad != nil {
		return bad
	}
	if err != nil {
		round.Reward = 0 // the policy was told nothing, and no NaN travels
		return fmt.Errorf("evolve: round %d: %w", p.round, err)
	}
	return nil
}

// children writes down where the children of a pull come from, for those who read the journal. Replay does not
// compare it, so more can be told of children without making old journals useless.
func (d *driver) children(p pull, gen Generation) error {
	if d.cfg.Journal == nil || p.past.Ended {
		return nil
	}
	for _, c := range gen.Children {
		r := journal.Record{Pull: &p.ID, Child: &c.Index, ID: c.ID, Parents: c.Parents, Operator: c.Operator, Valid: c.Result.Valid, Score: c.Result.Score}
		if c.HasProgram() {
			r.Program = journal.KeyOf(c.Program).String()
		}
		if err := d.cfg.Journal.WriteChild(r); err != nil {
			return err
		}
	}
	return nil
}

// fail ends the run because a step failed. One that failed because its run came to an end did as it was told. A
// panic is a mistake in somebody's code, and is told also if the run was ending anyway.
func (d *driver) fail(ctx context.Context, err error) {
	why, _ := d.core.Ended()
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked), journalFailed(err): // whatever else ends the run
		d.stop(allocation.Error, "", err)
		d.err = cmp.Or(d.err, err)
	case why != "":
	case errors.Is(err, errWallTime):
		d.stop(allocation.Budget, wallTime, nil)
	case ctx.Err() != nil:
		d.stop(allocation.Canceled, "", nil)
	default:
		d.stop(allocation.Error, "", err)
	}
}

// interrupted ends the run because a context has.
func (d *driver) interrupted(steps context.Context) {
	if errors.Is(context.Cause(steps), errWallTime) {
		d.stop(allocation.Budget, wallTime, nil)
	} else {
		d.stop(allocation.Canceled, "", nil)
	}
}

// stop ends the run; the first reason stands. A stop that is for good is a decision, and in the journal. One by
// Ctrl-C or an error is not: the run can go on, and ends by another reason then.
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
	if err := d.decide(journal.Record{Kind: journal.Stop, Stop: string(why), Limit: limit}); err != nil {
		d.res.Stop, d.res.Limit, d.err = StopError, "", err
	}
}

// decide records a decision, or compares it with the one in the file.
func (d *driver) decide(r journal.Record) error {
	if d.cfg.Journal == nil {
		return nil
	}
	return d.cfg.Journal.Decide(r)
}

// over reports whether the run was over in an earlier incarnation, so that all of it comes from the journal.
func (d *driver) over() bool { return d.cfg.Journal != nil && d.cfg.Journal.Finished() }

// elapsed is the time since the run began, over all its incarnations.
func (d *driver) elapsed() time.Duration {
	if d.cfg.Journal != nil {
		return d.cfg.Journal.Elapsed()
	}
	return time.Since(d.begun)
}

// observe tells the observer, and ends the run if that panics.
func (d *driver) observe(e Event) {
	e.Best, e.Calls, e.Elapsed = d.res.Best, d.res.Calls, d.elapsed()
	if err := guard("Config.Observer", func() { d.cfg.Observer(e) }); err != nil {
		d.stop(allocation.Error, "", err)
		d.err = cmp.Or(d.err, err) // also if the run is over
	}
}

// finish completes the result.
func (d *driver) finish() (*Result, error) {
	paused := d.res.Stop == StopCanceled || d.res.Stop == StopError
	if j := d.cfg.Journal; j != nil {
		if err := d.closeJournal(j, paused); err != nil && d.err == nil {
			d.res.Stop, d.err = StopError, err
		}
	}
	d.res.Elapsed = d.elapsed()
	d.observe(Event{Kind: EventStop, Stop: d.res.Stop})
	return d.res, d.err
}

// closeJournal notes a pause, and takes over what earlier incarnations paid for beside.
func (d *driver) closeJournal(j *journal.Journal, paused bool) (err error) {
	if paused {
		err = j.Pause(string(d.res.Stop), d.err)
	}
	d.res.Behind = paused && j.Behind()
	var bad error
	if d.res.Earlier, bad = j.Earlier(!paused); bad != nil {
		err = cmp.Or(err, bad)
	}
	if n := len(d.res.Earlier.Unclaimed); n > 0 {
		slog.Warn("evolve: answers that were paid for were not asked for again after a kill, and are lost: the requests of a search depend on more than its seeds and the answers",
			"calls", n, "journal", j.Path())
	}
	return err
}
