package evolve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/llm"
)

// An allocation is the deterministic core of [Run] and [Allocator]: it draws pulls, takes their
// outcomes in, and knows when to stop. It starts no goroutine and is owned by one.
type allocation struct {
	cfg      Config
	player   *bandit.Player
	begin    time.Time
	flying   map[int]flight // by arm
	pulls    []int          // by arm
	reserved int            // calls set aside for what is in flight
	ledger   *ledger
	full     string                     // the limit that left no room for a call
	stalls   int                        // attempts of landed generations
	seen     map[[sha256.Size]byte]bool // programs, by hash
	idle     int                        // landings in a row without a better best
	res      *Result
	stop     Stop
	limit    string
	err      error
}

// A flight is a pull whose generation is being made.
type flight struct {
	pull  bandit.Pull
	round int           // its place in Result.Rounds
	calls int           // set aside for it
	ended bool          // an earlier life saw its end: the journal has all that it asks for
	took  time.Duration // then
	step  func(context.Context) (Generation, error)
}

func newAllocation(cfg Config) *allocation {
	a := &allocation{
		cfg:    cfg,
		ledger: newLedger(cfg.Budget),
		player: bandit.NewPlayer(cfg.Policy, len(cfg.Arms), cfg.Seed),
		begin:  time.Now(),
		flying: make(map[int]flight),
		seen:   make(map[[sha256.Size]byte]bool),
		pulls:  make([]int, len(cfg.Arms)),
		res:    &Result{Arms: make([]ArmResult, len(cfg.Arms))},
	}
	for i, arm := range cfg.Arms {
		a.res.Arms[i] = ArmResult{Start: arm.Best(), Best: arm.Best()}
		a.better(i)
	}
	given := cfg.fingerprint()
	err := a.ledger.earlier(cfg.Journal)
	if err == nil {
		err = cfg.Journal.raise(given)
	}
	if err == nil {
		err = cfg.Journal.decide(Record{Kind: RecordRun, Fingerprint: given})
	}
	if err != nil {
		a.end(StopError, "", err)
	}
	return a
}

// fingerprint is what a run is given that decides it, as far as it prints itself.
func (c Config) fingerprint() Fingerprint {
	f := c.Budget.fingerprint()
	f["policy"], f["arms"], f["seed"], f["in_flight"] = c.policy(), fmt.Sprint(len(c.Arms)), fmt.Sprint(c.Seed), fmt.Sprint(c.InFlight)
	return f
}

// policy is the policy as it prints itself, or else its type: what it holds may print otherwise in every
// process.
func (c Config) policy() string {
	if s, ok := c.Policy.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", c.Policy)
}

// draw begins the next pull, of at most n calls if n > 0. If it cannot, either the run has a reason
// to stop or a pull in flight must land first. It stops when ctx ends, or the one of steps.
func (a *allocation) draw(ctx, steps context.Context, n int) (f flight, ok bool) {
	if err := guard("Policy.Probs, or an arm's Done or Calls,", func() { f, ok = a.drawOne(ctx, steps, n) }); err != nil {
		a.end(StopError, "", err)
		return flight{}, false
	}
	return f, ok
}

func (a *allocation) drawOne(ctx, steps context.Context, n int) (flight, bool) {
	open, any := a.open()
	limit := a.bound()
	switch {
	case a.stop != "":
		return flight{}, false
	case ctx.Err() != nil || steps.Err() != nil:
		a.interrupted(steps)
		return flight{}, false
	case a.cfg.Budget.reached(a.res.Best):
		a.end(StopTarget, "", nil)
		return flight{}, false
	case len(a.flying) > 0 && (limit != "" || !any):
		return flight{}, false // what is in flight may leave room
	case limit != "":
		a.end(StopBudget, limit, nil)
		return flight{}, false
	case !any:
		a.end(StopExhausted, "", nil)
		return flight{}, false
	}
	pull, err := a.player.Draw(open)
	if err != nil {
		a.end(StopError, "", err)
		return flight{}, false
	}
	return a.launch(pull, n)
}

// interrupted ends the run because a context has.
func (a *allocation) interrupted(steps context.Context) {
	if errors.Is(context.Cause(steps), errWallTime) {
		a.end(StopBudget, "WallTime", nil)
	} else {
		a.end(StopCanceled, "", nil)
	}
}

// bound returns the limit that leaves no room for another pull, or "".
func (a *allocation) bound() string {
	b := a.cfg.Budget
	switch {
	case b.Rounds > 0 && len(a.res.Rounds) >= b.Rounds:
		return "Rounds"
	case b.Calls > 0 && a.res.Calls+a.reserved >= b.Calls:
		return "Calls"
	case b.Patience > 0 && a.idle >= b.Patience:
		return "Patience"
	}
	if most, limited := b.stalls(); limited && a.stalls > most {
		return "Stalls"
	}
	return a.full
}

// open returns which arms may be pulled now, and whether any may.
func (a *allocation) open() (open []bool, any bool) {
	limit := a.cfg.Budget.RoundsPerArm
	open = make([]bool, len(a.cfg.Arms))
	for i, arm := range a.cfg.Arms {
		if _, busy := a.flying[i]; busy {
			continue // its Step runs elsewhere: not even Done may be asked
		}
		open[i] = !arm.Done() && (limit == 0 || a.pulls[i] < limit)
		any = any || open[i]
	}
	return open, any
}

// launch prepares the step of a drawn arm, with as many calls as n and the budget can hold.
func (a *allocation) launch(pull bandit.Pull, n int) (flight, bool) {
	arm := a.cfg.Arms[pull.Arm]
	f := flight{pull: pull, round: len(a.res.Rounds), step: arm.Step}
	f.took, f.ended = a.cfg.Journal.endsLater()
	if s, ok := arm.(Sizer); ok {
		f.calls = s.Calls()
		if n > 0 {
			f.calls = min(f.calls, n)
		}
		if b := a.cfg.Budget.Calls; b > 0 {
			f.calls = min(f.calls, b-a.res.Calls-a.reserved)
		}
		f.step = func(ctx context.Context) (Generation, error) { return s.StepN(ctx, f.calls) }
	}
	if err := a.cfg.Journal.decide(Record{Kind: RecordDraw, Pull: &pull.ID, Arm: &pull.Arm, Prob: pull.Prob, Calls: f.calls}); err != nil {
		a.end(StopError, "", err)
		return f, false
	}
	a.flying[pull.Arm] = f
	a.reserved += f.calls
	a.pulls[pull.Arm]++
	a.res.Rounds = append(a.res.Rounds, Round{Pull: pull, Partial: true}) // until it lands
	a.observe(Event{Kind: EventDraw, Pull: pull})
	return f, true
}

// land takes a flight's outcome in: into the result first, then to the policy.
func (a *allocation) land(ctx context.Context, l landing) {
	f := l.flight
	delete(a.flying, f.pull.Arm)
	a.reserved -= f.calls
	arm := &a.res.Arms[f.pull.Arm]
	l = l.settled(arm)
	if f.ended {
		l.gen.Elapsed = f.took // not what it took to read it
	}
	a.count(l.gen)
	a.mark(l.gen)
	if len(arm.Generations) == 0 {
		arm.Start = l.gen.Parent // evaluated by now
	}
	arm.Best = l.gen.Best
	round := &a.res.Rounds[f.round]
	round.Generation = len(arm.Generations)
	arm.Generations = append(arm.Generations, slim(l.gen))
	if a.idle++; a.better(f.pull.Arm) {
		a.idle = 0
	}
	round.Best = a.res.Best.Result.Score
	a.report(ctx, f, round, l)
	a.observe(Event{Kind: EventGeneration, Pull: f.pull, Generation: l.gen, Reward: round.Reward})
	if a.cfg.Budget.reached(a.res.Best) {
		a.end(StopTarget, "", nil)
	}
}

// settled returns the landing of an arm of any make as one of ours would be: no room in the budget is no
// error, but a limit on the generation; and what is best does not depend on a generation that failed.
func (l landing) settled(arm *ArmResult) landing {
	if l.err != nil && l.gen.Best.Program == "" {
		l.gen.Parent, l.gen.Best, l.gen.Partial = arm.Best, arm.Best, true
		l.gen.Index = cmp.Or(l.gen.Index, len(arm.Generations)+1)
	}
	var refused *refusedError
	if errors.As(l.err, &refused) {
		l.gen.Limit, l.err = cmp.Or(l.gen.Limit, refused.limit), nil
	}
	l.gen.Limit = cmp.Or(l.gen.Limit, l.refused)
	return l
}

// count books a generation's calls.
func (a *allocation) count(g Generation) {
	for _, c := range g.Children {
		if c.Class() == llm.Real {
			a.res.Calls++
		}
	}
	for at := range g.Attempts {
		if at.Status.Class() == llm.Stall {
			a.stalls++
		}
	}
	if !a.cfg.Journal.raisedLater() {
		a.full = cmp.Or(a.full, g.Limit)
	}
}

// mark marks the children whose program stood before, in the order of landings and children.
func (a *allocation) mark(g Generation) {
	a.repeated(g.Parent.Program)
	for i := range g.Children {
		if c := &g.Children[i]; c.HasProgram() {
			c.Duplicate = a.repeated(c.Program)
		}
	}
}

// space is what two programs may differ by at their ends, and be evaluated once (see [eval.Memo]).
const space = " \t\r\n"

// repeated reports whether program was given to it before.
func (a *allocation) repeated(program string) bool {
	sum := sha256.Sum256([]byte(strings.TrimRight(program, space)))
	before := a.seen[sum]
	a.seen[sum] = true
	return before
}

// report tells the policy how the pull went, or takes the pull back if its arm failed. An arm that
// failed because its run came to an end did as it was told.
func (a *allocation) report(ctx context.Context, f flight, round *Round, l landing) {
	if l.err == nil && a.stop == "" {
		round.Partial = false
		err := a.reward(f, round, l.gen)
		if err == nil {
			err = a.cfg.Journal.decide(Record{Kind: RecordReport, Pull: &f.pull.ID, Reward: round.Reward})
		}
		if err != nil {
			a.end(StopError, "", err)
		}
		return
	}
	round.Partial = l.gen.Partial
	var panicked *PanicError
	switch {
	case errors.As(l.err, &panicked): // whatever else ends the run
		a.end(StopError, "", l.err)
		a.err = cmp.Or(a.err, l.err)
	case a.stop != "":
	case errors.Is(l.err, errWallTime):
		a.end(StopBudget, "WallTime", nil)
	case ctx.Err() != nil:
		a.end(StopCanceled, "", nil)
	default:
		a.end(StopError, "", l.err)
	}
	if err := a.player.Cancel(f.pull.ID); err != nil {
		a.end(StopError, "", err)
	}
}

// reward asks for the reward of a generation and tells the policy.
func (a *allocation) reward(f flight, round *Round, g Generation) (err error) {
	if err := guard("Config.Reward", func() { round.Reward = a.cfg.Reward(g) + 0 }); err != nil { // -0 is 0, as in the journal
		return err
	}
	if bad := guard("Policy.Update", func() { err = a.player.Report(f.pull.ID, round.Reward) }); bad != nil {
		return bad
	}
	if err != nil {
		round.Reward = 0 // the policy was told nothing, and no NaN travels
		return fmt.Errorf("evolve: round %d: %w", f.round, err)
	}
	return nil
}

// better takes over the arm's best candidate if it is the run's, or the first that was evaluated, and
// reports whether it did.
func (a *allocation) better(arm int) bool {
	best, old := a.res.Arms[arm].Best, a.res.Best
	unknown := !old.Result.Valid && old.Result.Reason == ""
	if best.Better(old) || unknown && (old.Program == "" || best.Result.Reason != "") {
		a.res.Best, a.res.BestArm = best, arm
		return true
	}
	return false
}

// end sets why the run stops; the first reason stands. A stop that is for good is a decision.
func (a *allocation) end(stop Stop, limit string, err error) {
	if a.stop != "" {
		return
	}
	a.stop, a.limit, a.err = stop, limit, err
	switch stop {
	case StopCanceled, StopError:
		return
	}
	if err := a.cfg.Journal.decide(Record{Kind: RecordStop, Stop: stop, Limit: limit}); err != nil {
		a.stop, a.limit, a.err = StopError, "", err
	}
}

// over reports whether the run was over in an earlier life, so that all of it comes from the journal.
func (a *allocation) over() bool { return a.cfg.Journal != nil && a.cfg.Journal.Finished() }

// elapsed is the time since the run began, over all its lives.
func (a *allocation) elapsed() time.Duration {
	if a.cfg.Journal != nil {
		return a.cfg.Journal.elapsed()
	}
	return time.Since(a.begin)
}

// observe tells the observer, and ends the run if that panics.
func (a *allocation) observe(e Event) {
	e.Best, e.Calls, e.Elapsed = a.res.Best, a.res.Calls, a.elapsed()
	if err := guard("Config.Observer", func() { a.cfg.Observer(e) }); err != nil {
		a.end(StopError, "", err)
		a.err = cmp.Or(a.err, err) // also if the run is over
	}
}

func (a *allocation) finish() (*Result, error) {
	if a.stop == StopCanceled || a.stop == StopError {
		if err := a.cfg.Journal.pause(a.stop, a.err); err != nil && a.err == nil {
			a.stop, a.err = StopError, err
		}
	}
	var err error
	if a.res.Earlier, err = a.cfg.Journal.beside(); err != nil && a.err == nil {
		a.stop, a.err = StopError, err
	}
	a.res.Behind = (a.stop == StopCanceled || a.stop == StopError) && a.cfg.Journal.behind()
	a.res.Stop, a.res.Limit, a.res.Elapsed = a.stop, a.limit, a.elapsed()
	a.observe(Event{Kind: EventStop, Stop: a.stop})
	return a.res, a.err
}
