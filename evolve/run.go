package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
)

// Run draws an arm, steps it and reports its reward to the policy until the budget ends. The result says why it
// stopped. An arm that is done is closed to the policy, never replaced by another.
//
// When ctx ends, the run stops with [StopCanceled] and no error. Calls under way have the grace period to finish.
//
// An error is an arm's, the policy's, the journal's or the configuration's; a panic in the caller's code is a
// [*PanicError]. The result that comes with an error holds everything that was paid for until then. It is nil only for
// a wrong configuration, or a journal that another run uses. With a journal, [Result.Behind] says whether an earlier
// result may hold more.
//
// Run returns when every goroutine that it started has ended.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Journal != nil {
		// Before anything is written: two runs that mix their decisions in one file could never be resumed.
		release, err := (*record.Journal)(cfg.Journal).Use()
		if err != nil {
			return nil, fmt.Errorf("evolve: %w", err)
		}
		defer release()
	}
	return newDriver(cfg).run(ctx)
}

// A driver does what the core of the allocation decides: it makes each decision durable and then acts on it. It steps
// each pull's arm on a goroutine of its own, and has the clock, the journal and the result.
//
// The core decides the same whenever it is told the same in the same order. So a run is resumed by making it
// again: the driver asks the core as before, compares each decision with the file, and lets outcomes wait until
// it is their turn there. The design that was rejected is a snapshot of the state, which everyone who writes a
// policy, an arm or an archive would have to save and restore.
//
// Who owns what: the goroutine of Run owns the driver, the core, the policy and the result. It alone draws
// and reports. The goroutine of a step owns its arm from the draw until the outcome is sent; then the
// arm is Run's again. What steps share (the ledger, the memory of programs, the journal) has locks of its own.
type driver struct {
	account
	cfg     Config
	core    *allocation.Core
	shared  *shared
	begun   time.Time
	pending map[int]pull  // pulls whose outcome is not in, by arm
	streaks []step.Streak // calls in a row that failed, by arm
	err     error         // with which the run ends
	margin  margin        // of the budget, for noisy arms
	audits  []auditor     // by arm
	scored  int           // children that were scored or failed, and the programs that arms begin with
	// programs are those that were scored or refused, without duplicates; gated are the calls that gates made.
	programs, gated int
	asides          int       // calls that the score of a child was last expected to take beside its own
	costs           []float64 // of a call of each arm, as the policy was last told; nil if all are alike
	wasOver         bool      // an earlier incarnation ended it
	warned          bool      // of a reward that the policy does not expect

	ended chan outcome
	early []outcome   // outcomes that wait for their turn in replay
	idle  step.Signal // that a slot for model calls was seen free
}

// A margin is what a run sets aside of its budget for noisy arms.
type margin struct {
	rescore float64 // evaluations beside each child's, the most of any arm
	fresh   int     // samples of the best once the run is over
}

// marginOf returns what arms need, as far as the budget has it: fresh samples take no more than a quarter.
func marginOf(arms []Arm, b Budget) margin {
	var m margin
	for _, a := range arms {
		if n := noiseOf(a); n != nil {
			m.rescore, m.fresh = max(m.rescore, n.Rescore), max(m.fresh, n.Fresh)
		}
	}
	if b.Evaluations > 0 {
		m.fresh = min(m.fresh, b.Evaluations/4)
	}
	if b.EvalTime > 0 {
		m.fresh = min(m.fresh, int(b.EvalTime/(4*b.EvalWorst)))
	}
	return m
}

// limits returns those of the core: fresh samples are set aside, and so is what a step scores again.
func (m margin) limits(b Budget) allocation.Limits {
	l := b.coreLimits()
	l.Rescore = m.rescore
	if l.Evaluations > 0 {
		l.Evaluations -= m.fresh
	}
	return l
}

// amounts are what the ledger keeps for fresh samples.
func (m margin) amounts(b Budget) step.Amounts {
	return step.Amounts{Evaluations: m.fresh, EvalTime: time.Duration(m.fresh) * b.EvalWorst}
}

func newDriver(cfg Config) *driver {
	margin := marginOf(cfg.Arms, cfg.Budget)
	d := &driver{
		account: newAccount(cfg.Arms),
		margin:  margin,
		cfg:     cfg,
		core: allocation.New(allocation.Config{Arms: len(cfg.Arms), Policy: cfg.Policy, Seed: cfg.Seed,
			Limits: margin.limits(cfg.Budget)}),
		shared:  newShared(cfg, margin),
		begun:   time.Now(),
		pending: make(map[int]pull),
		streaks: make([]step.Streak, len(cfg.Arms)),
		ended:   make(chan outcome),
		idle:    step.NewSignal(),
	}
	for _, arm := range cfg.Arms {
		d.audits = append(d.audits, auditor{Audit: cfg.Audit, arm: arm})
	}
	if err := d.open(); err != nil {
		d.stop(allocation.Error, "", err) // not returned here, so that the result says what is known all the same
	}
	return d
}

func newShared(cfg Config, m margin) *shared {
	b := cfg.Budget
	return &shared{births: make(chan Event), gone: make(chan struct{}), budget: b, Run: &step.Run{
		EvalTime: b.EvalTime, EvalWorst: b.EvalWorst, TuneEvaluations: b.TuneEvaluations,
		Ledger: newLedger(b, m.amounts(b)), Journal: (*record.Journal)(cfg.Journal), Programs: step.NewPrograms(),
	}}
}

// open compares what this run is given with what earlier incarnations were given, and books what they spent. It
// does so before anything is drawn, because the answers in the file do not belong to a run with other settings.
func (d *driver) open() error {
	j := d.shared.Journal
	if j == nil {
		return nil
	}
	now := d.cfg.fingerprint()
	// A raise comes before the comparison: the fingerprint with the larger limit is then the run's own.
	var moved error
	err := j.Raise(now, func(limit string, then map[string]string) bool {
		if !raises(limit, then, now) {
			return false
		}
		moved = d.keepsMargin(then)
		return moved == nil
	})
	if err := cmp.Or(moved, err); err != nil {
		return err
	}
	run := record.Record{Kind: record.Run, Fingerprint: now}
	run.Models, run.Arms, run.Ledger = d.cfg.ranBy()
	if err := j.Decide(run); err != nil {
		return err
	}
	d.wasOver = d.over()
	// Calls that were abandoned are made again and paid for twice. Unless both count, a run that is interrupted
	// often would pass its budget. They are those of the run just begun, which the journal knows only now.
	spent, err := j.Abandoned()
	d.shared.Ledger.BookAttempts(spent)
	return err
}

// run starts the arms, draws pulls, and takes their outcomes in until there is a reason to stop. It returns when
// no pull is pending, so every goroutine of a step has ended by then and what it paid for is in the result.
func (d *driver) run(ctx context.Context) (*Result, error) {
	steps, end := d.begin(ctx)
	defer end()
	d.start(ctx, steps)
	for {
		// As long as the run goes on, fill leaves at least one pull pending.
		d.fill(ctx, steps)
		if len(d.pending) == 0 {
			return d.finish(ctx, steps)
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

// unwanted reports whether pending pulls are abandoned at once. A run that is canceled lets them have the grace
// period. One that was over in an earlier incarnation has their outcomes in its journal, and takes no time.
func (d *driver) unwanted() bool {
	switch why, _ := d.core.Ended(); why {
	case "", allocation.Canceled:
		return false
	case allocation.Error:
		return true
	}
	return !d.over()
}

// start lets each arm evaluate what it begins with, before the first draw: so the result has a row 0 of each arm, and
// an evaluator that does not work is found before a model is paid.
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
		turn := d.turn(pull{Pull: bandit.Pull{ID: -1, Arm: i}, past: past}, math.MaxInt, begin)
		err := guard(fmt.Sprintf("Start of arm %d", i), func() error { return s.Start(turn.step.Within(begin), turn) })
		noted := turn.step.Account()
		limit, err := ended(noted, "", err)
		d.core.Spent(d.apart(i, noted))
		d.scored, d.programs = d.res.Evaluations, d.res.Evaluations
		d.notStarted(ctx, begin, limit, err)
		if why, _ := d.core.Ended(); why == "" {
			d.account.begin(i, arm.Best())
			d.notStarted(ctx, begin, "", d.tellStart(i, arm.Best()))
		}
	}
	d.valid()
	for i := range d.cfg.Arms {
		d.core.Begin(scoreOf(d.res.Arms[i].Best))
	}
}

// beginning returns the context in which arms start, and what the journal holds of that. Starts come before the
// first draw, so they must not wait until all decisions are made again: that would be for ever.
func (d *driver) beginning(steps context.Context) (context.Context, record.Past) {
	next, replaying := d.replaying()
	switch {
	case replaying && next.Kind == record.Draw:
		return steps, record.Past{Ended: true}
	case replaying && next.Kind == record.Stop && next.Limit == wallTime:
		// The time was over before an arm was drawn. What is not in the file was abandoned then.
		over, end := context.WithCancelCause(steps)
		end(step.ErrWallTime)
		return over, record.Past{}
	}
	return steps, record.Past{}
}

// notStarted ends the run because of an error of an arm's Start, or of the limit that left no room, if there is one.
func (d *driver) notStarted(ctx, begin context.Context, limit string, err error) {
	switch {
	case err == nil && limit == "":
	case err == nil:
		d.stop(allocation.Budget, limit, nil)
	case errors.Is(context.Cause(begin), step.ErrWallTime): // whatever the arm makes of it
		d.fail(ctx, errors.Join(err, step.ErrWallTime))
	default:
		d.fail(ctx, err)
	}
}

// valid ends the run if Config.ValidStart forbids the invalid program that an arm begins with.
func (d *driver) valid() {
	for i, arm := range d.res.Arms {
		if r := arm.Start.Result; d.cfg.ValidStart && !r.Valid && r.Reason != "" {
			d.stop(allocation.Error, "", fmt.Errorf("evolve: %w: arm %d: %s", ErrInvalidStart, i, r.Reason))
		}
	}
}

// turn returns what a step of p is granted. What happens in the step is noted there even if the arm tells nothing of it.
func (d *driver) turn(p pull, calls int, steps context.Context) *Turn {
	s := &step.Step{Run: d.shared.Run, Pull: p.ID, Past: p.past, Beside: p.beside, Failing: &d.streaks[p.Arm],
		Over: func() bool { return steps.Err() != nil }}
	return &Turn{step: s, shared: d.shared, calls: calls, pull: p.Pull, lessons: p.lessons}
}

// guard returns the error of f, or what it panics with.
func guard(what string, f func() error) (err error) {
	if bad := step.Guard(what, func() { err = f() }); bad != nil {
		return bad
	}
	return err
}

// fill begins pulls until InFlight are under way or none can be drawn now. In replay it begins the pulls that an
// earlier incarnation began at this point, however many are under way: that one may have drawn one more because
// a slot for model calls stood idle, which depended on latencies.
func (d *driver) fill(ctx, steps context.Context) {
	for {
		next, replaying := d.replaying()
		if replaying && next.Kind == record.Stop && next.Limit == wallTime {
			// The core cannot decide this, as it reads no clock, and replay takes less time than the run did.
			d.stop(allocation.Budget, wallTime, nil)
		}
		draws := next.Kind == record.Draw || next.Kind == record.Stop
		if replaying && !draws || !replaying && len(d.pending) >= d.cfg.InFlight || !d.draw(ctx, steps) {
			return
		}
	}
}

// replaying returns the decision that an earlier incarnation made here, and reports whether there is one.
func (d *driver) replaying() (record.Record, bool) {
	if d.shared.Journal == nil {
		return record.Record{}, false
	}
	return d.shared.Journal.Next()
}

// draw asks the core what to do, and does it. It reports whether a pull was begun. The policy that is called may
// panic.
func (d *driver) draw(ctx, steps context.Context) bool {
	if ctx.Err() != nil || steps.Err() != nil {
		d.interrupted(steps)
	}
	var decision allocation.Decision
	most, limited := d.scorable()
	err := guard("Policy.Probs, or an arm's Done or Calls,", func() (err error) {
		decision, err = d.next(most, limited)
		return err
	})
	switch {
	case err != nil:
		d.stop(allocation.Error, "", err)
	case decision.Kind == allocation.Stop:
		d.stop(decision.Why, decision.Limit, nil)
	case decision.Kind == allocation.Draw:
		return d.pull(decision, most, steps)
	}
	return false
}

// arms asks each arm that is not being stepped what the core has to know. An arm that is being stepped is not
// asked, not even for Done: its Step runs on another goroutine, and arms are not safe for concurrent use.
func (d *driver) arms() []allocation.Arm {
	_, over := d.core.Ended()
	arms := make([]allocation.Arm, len(d.cfg.Arms))
	for i, arm := range d.cfg.Arms {
		if _, pending := d.pending[i]; pending || over != "" {
			continue
		}
		arms[i].Done = arm.Done()
		if s, ok := arm.(Sizer); ok && !arms[i].Done {
			arms[i].Calls = s.Calls()
		}
	}
	return arms
}

// pull makes a draw durable and begins its step. If the draw cannot be made durable, the step is not begun:
// nobody could say later which pull its calls belonged to.
func (d *driver) pull(decision allocation.Decision, most int, steps context.Context) bool {
	p := pull{Pull: decision.Pull, round: len(d.res.Rounds), most: decision.Most}
	p.beside, p.lessons = d.tunedBeside(p.Arm), d.shared.lessons
	if d.shared.Journal != nil {
		p.past = d.shared.Journal.Past()
		if next, replaying := d.replaying(); replaying {
			p.beside = next.Beside
		}
	}
	d.pending[p.Arm] = p
	// Rounds are in the order of draws and outcomes come in any order, so the round has its place from now on.
	d.res.Rounds = append(d.res.Rounds, Round{Pull: p.Pull})
	drawn := record.Record{Kind: record.Draw, Pull: &p.ID, Arm: &p.Arm, Prob: p.Prob, Calls: decision.Calls, Most: most,
		Asides: d.asides, Beside: p.beside, Costs: d.costs}
	if err := d.decide(drawn); err != nil {
		delete(d.pending, p.Arm)
		d.res.Rounds = d.res.Rounds[:p.round]
		d.stop(allocation.Error, "", err)
		return false
	}
	d.observe(Event{Kind: EventDraw, Pull: p.Pull})
	go d.stepArm(p, decision.Most, steps)
	return true
}

// stepArm steps the arm of p and sends the outcome. It always sends one, because the run waits for the outcome
// of every pull: a Step that calls runtime.Goexit, as a test's FailNow does, must not leave it waiting for ever.
func (d *driver) stepArm(p pull, calls int, steps context.Context) {
	turn := d.turn(p, calls, steps)
	o := outcome{pull: p, err: fmt.Errorf("evolve: Step of arm %d ended its goroutine", p.Arm)}
	defer func() {
		o.close(turn.step)
		d.ended <- o
	}()
	var gen Generation
	err := guard(fmt.Sprintf("Step of arm %d", p.Arm), func() (err error) {
		gen, err = d.audits[p.Arm].step(turn.step.Within(steps), turn)
		return err
	})
	o.gen, o.err = gen, err
}

// await returns the outcome to be taken in next. That is the first that comes, or in replay the one that an
// earlier incarnation took in, while others wait. Once the run stops, it waits for all outcomes and returns them
// in the order of draws: in which order they come then is chance, and no record tells replay.
//
// It reports false if instead a slot for model calls stands idle and one more arm may be advanced to fill it.
func (d *driver) await(steps context.Context) (outcome, bool) {
	next, replaying := d.replaying()
	for {
		why, _ := d.core.Ended()
		for i, o := range d.early {
			if why == "" && (!replaying || next.Kind == record.Report && o.pull.ID == *next.Pull) {
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
		// Not with one arm in flight, where the same seeds must give the same result, whatever the latencies.
		var idle <-chan struct{}
		if why == "" && !replaying && d.cfg.InFlight > 1 && len(d.pending)/2 < d.cfg.InFlight {
			idle = d.idle
		}
		select {
		case o := <-d.ended:
			d.early = append(d.early, o)
			if o.err != nil && errors.Is(context.Cause(steps), step.ErrWallTime) {
				// Whatever error the arm returned: the stop comes before the outcome, and replay reads it there.
				d.stop(allocation.Budget, wallTime, nil)
			}
		case e := <-d.shared.births:
			d.observe(e)
		case <-idle:
			return outcome{}, false
		}
	}
}

// decide records a decision, or compares it with the one in the file.
func (d *driver) decide(r record.Record) error {
	if d.shared.Journal == nil {
		return nil
	}
	spent := d.shared.Ledger.Record()
	r.Ledger = &spent
	return d.shared.Journal.Decide(r)
}

// over reports whether the run was over in an earlier incarnation. All of it then comes from the journal.
func (d *driver) over() bool { return d.shared.Journal != nil && d.shared.Journal.Finished() }

// elapsed returns the time that the run has taken, over all its incarnations.
func (d *driver) elapsed() time.Duration {
	if d.shared.Journal != nil {
		return d.shared.Journal.Elapsed()
	}
	return time.Since(d.begun)
}

// observe calls the observer, and ends the run with an error if it panics.
func (d *driver) observe(e Event) {
	e.Best, e.Calls, e.Ledger = d.res.Best, d.res.Calls, d.shared.Ledger.Observed()
	if err := step.Guard("Config.Observer", func() { d.cfg.Observer(e) }); err != nil {
		d.stop(allocation.Error, "", err)
		d.err = cmp.Or(d.err, err) // stop does nothing once the run is over, and the panic must not be lost
	}
}

// tellStart records what an arm begins with, for readers of the journal, unless an earlier incarnation has.
func (d *driver) tellStart(arm int, start eval.Candidate) error {
	j := d.shared.Journal
	if _, replaying := d.replaying(); j == nil || replaying {
		return nil
	}
	var program string
	if start.Program != "" {
		var err error
		if program, err = j.WriteProgram(start.Program); err != nil {
			return err
		}
	}
	r := kept(start.Result)
	return j.Tell(record.Record{Kind: record.Start, Arm: &arm, Program: program,
		Proposal: books.Proposal{Valid: r.Valid, Score: r.Score, Reason: r.Reason}})
}
