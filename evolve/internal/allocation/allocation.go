// Package allocation is the core of evolve's Run: it decides which arm is pulled next, what the policy is
// told, and when the run stops.
//
// It only decides. It starts no goroutine, reads no clock and writes no file. The same questions in the same
// order therefore get the same answers, which is what a resumed run rests on: it asks them again, and compares
// the answers with those in its journal. The driver makes each decision durable and then acts on it. A [Core] is
// owned by one goroutine.
package allocation

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
)

// Limits are those of a budget that depend on outcomes alone. The others (tokens, FLOPs, money, time) are
// kept call by call, as a pull can pass them before its outcome is in. They reach the core in [Outcome.Limit].
type Limits struct {
	Calls        int      // that brought an answer; 0: no limit
	Evaluations  int      // 0: no limit
	Rescore      float64  // evaluations that a pull makes for each call beside the one of its child
	Stalls       int      // attempts that may stall; negative: no limit
	Rounds       int      // pulls; 0: no limit
	RoundsPerArm int      // pulls after which an arm is closed; 0: never
	Patience     int      // pulls in a row without a better best; 0: no limit
	Target       *float64 // score of a valid candidate; nil: none
}

// Config says what a [Core] decides about.
type Config struct {
	Arms   int // at least 1
	Policy bandit.Policy
	Seed   uint64 // of the draws
	Limits Limits
}

// An Arm is what the core has to know of an arm when it draws. The entry of an arm whose pull is pending is not
// read, so the driver need not ask an arm that is being stepped.
type Arm struct {
	Done  bool
	Calls int // model calls that a step would like to make; 0: it does not say
}

// A Score is a candidate's, as far as the core compares them.
type Score struct {
	Valid bool
	Value float64
}

// better reports whether s is strictly better than t, as eval.Candidate.Better has it.
func (s Score) better(t Score) bool {
	if s.Valid != t.Valid {
		return s.Valid
	}
	return s.Valid && s.Value > t.Value
}

// A Kind says what is to be done next.
type Kind int

// The kinds of decisions.
const (
	Wait Kind = iota // for an outcome: nothing can be drawn now
	Draw             // begin the pull
	Stop             // the run is over once all pending pulls are in
)

// A Decision is what the core wants done.
type Decision struct {
	Kind   Kind
	Pull   bandit.Pull // draw
	Calls  int         // draw: set aside for it; 0 if its arm does not say how many it makes
	Asides int         // draw: set aside beside those, for what scores its children
	Most   int         // draw: the most calls that its step may make for children
	Why    Why         // stop
	Limit  string      // stop, if Why is Budget: the field of the budget that bound
}

// A Why says why a run stops.
type Why string

// The reasons.
const (
	Budget    Why = "budget"    // a limit bound
	Target    Why = "target"    // the target was reached
	Exhausted Why = "exhausted" // every arm is done, or has had its RoundsPerArm
	Canceled  Why = "canceled"  // the caller stopped the run
	Error     Why = "error"     // something failed
)

// An Outcome is what a pull brought. It counts what was paid for, also where the step was cut short.
type Outcome struct {
	Pull        int
	Calls       int    // that brought an answer
	Stalls      int    // attempts that stalled or timed out
	Evaluations int    // that were made
	Limit       string // the field of the budget that left no room for more; "" if none did
	Whole       bool   // the step was neither cut short nor failed
	Best        Score  // of the arm after it
}

// A Core decides. [New] makes it.
type Core struct {
	cfg     Config
	player  *bandit.Player
	pending map[int]Decision // pulls whose outcome is not in, by arm
	pulls   []int            // by arm

	rounds, calls, stalls, evaluations int
	reserved                           int       // children in what is pending that calls are set aside for
	beside                             int       // calls set aside beside those
	costs                              []float64 // of a call of each arm, in calls of the cheapest; nil if alike
	asides                             int       // calls that a child's score is expected to take beside its own
	full                               string    // the limit that left no room in an outcome
	idle                               int       // outcomes in a row without a better best
	weary                              bool      // idle has reached Patience once; a later gain does not undo it
	best                               Score
	why                                Why    // why the run stops; "" while it goes on
	limit                              string // the limit that bound, if why is Budget
}

// New returns a core that has decided nothing. It panics if cfg has no arm or no policy.
func New(cfg Config) *Core {
	return &Core{
		cfg:     cfg,
		player:  bandit.NewPlayer(cfg.Policy, cfg.Arms, cfg.Seed),
		pending: make(map[int]Decision),
		pulls:   make([]int, cfg.Arms),
	}
}

// Begin tells the core of a candidate that an arm begins with.
func (c *Core) Begin(s Score) {
	if s.better(c.best) {
		c.best = s
	}
}

// Spent tells the core what arms spent before the first draw: calls that brought an answer, attempts that
// stalled, and evaluations.
func (c *Core) Spent(calls, stalls, evaluations int) {
	c.calls += calls
	c.stalls += stalls
	c.evaluations += evaluations
}

// Expect tells the core how many calls the score of a child is expected to take beside the child's own, from the next
// draw on: those of judges. costs is what a call of each arm is expected to cost, in calls of the cheapest, nil if
// all cost the same: the policy is told.
func (c *Core) Expect(asides int, costs []float64) { c.asides, c.costs = asides, costs }

// Next decides what to do: draw a pull of at most most calls (0: as many as there is room for), stop, or
// wait for an outcome. arms has one entry for each arm. The error is the policy's.
func (c *Core) Next(arms []Arm, most int) (Decision, error) {
	open, some := c.Open(arms)
	limit := c.bound()
	switch {
	case c.why != "":
		return Decision{Kind: Wait}, nil
	case c.Reached():
		return c.End(Target, ""), nil
	case len(c.pending) > 0 && (limit != "" || !some):
		// A pending pull may use less than was set aside for it, or leave its arm open, and then there is room.
		return Decision{Kind: Wait}, nil
	case limit != "":
		return c.End(Budget, limit), nil
	case !some:
		return c.End(Exhausted, ""), nil
	}
	room := c.room()
	if most > 0 {
		room = min(room, most)
	}
	pull, err := c.player.DrawSized(open, c.sizes(arms, room), c.costs)
	if err != nil {
		return Decision{}, err
	}
	return c.grant(pull, room), nil
}

// sizes returns how many calls a pull of each arm makes: what the arm would like, as far as there is room.
func (c *Core) sizes(arms []Arm, room int) []int {
	sizes := make([]int, len(arms))
	for i, arm := range arms {
		if d, pending := c.pending[i]; pending {
			sizes[i] = d.Calls
		} else {
			sizes[i] = min(arm.Calls, room)
		}
	}
	return sizes
}

// grant sets aside what the drawn arm makes. For an arm that does not say how much that is, nothing is set aside:
// all the room there is would keep every other arm from being drawn.
func (c *Core) grant(pull bandit.Pull, room int) Decision {
	d := Decision{Kind: Draw, Pull: pull, Calls: pull.Calls, Most: room}
	if d.Calls > 0 {
		d.Most = d.Calls
	}
	d.Asides = d.Calls * c.asides
	c.pending[pull.Arm] = d
	c.reserved += d.Calls
	c.beside += d.Asides
	c.pulls[pull.Arm]++
	c.rounds++
	return d
}

// room returns how many calls for children, each with at most one evaluation, can still be made beside what is set
// aside. Evaluations need no reserve of their own, because a call brings at most one child and a child at most one
// evaluation.
func (c *Core) room() int {
	room := math.MaxInt
	if l := c.cfg.Limits.Calls; l > 0 {
		room = min(room, max(0, l-c.calls-c.reserved-c.beside)/(1+c.asides))
	}
	if c.cfg.Limits.Evaluations > 0 {
		room = min(room, c.scorable())
	}
	return room
}

// scorable returns how many more children can be scored beside those of the pulls that are pending. A pull of n calls
// makes n evaluations and ⌈Rescore·n⌉ more.
func (c *Core) scorable() int {
	l := c.cfg.Limits
	left := l.Evaluations - c.evaluations - c.reserved
	if l.Rescore == 0 {
		return left
	}
	for _, d := range c.pending {
		left -= int(math.Ceil(l.Rescore * float64(d.Calls)))
	}
	n := int(float64(left) / (1 + l.Rescore))
	for n > 0 && n+int(math.Ceil(l.Rescore*float64(n))) > left {
		n--
	}
	return n
}

// bound returns the limit that leaves no room for another pull, or "".
func (c *Core) bound() string {
	l := c.cfg.Limits
	switch {
	case l.Rounds > 0 && c.rounds >= l.Rounds:
		return "Rounds"
	case l.Calls > 0 && c.calls+c.reserved+c.beside+c.asides >= l.Calls:
		return "Calls"
	case l.Evaluations > 0 && c.scorable() <= 0:
		return "Evaluations"
	case c.weary:
		return "Patience"
	case l.Stalls >= 0 && c.stalls > l.Stalls:
		return "Stalls"
	}
	return c.full
}

// Open returns which arms may be pulled now, and whether any may. One whose pull is pending may not, because its
// step runs.
func (c *Core) Open(arms []Arm) (open []bool, some bool) {
	if len(arms) != c.cfg.Arms {
		panic(fmt.Sprintf("allocation: %d entries for %d arms", len(arms), c.cfg.Arms))
	}
	open = make([]bool, len(arms))
	for i, arm := range arms {
		_, pending := c.pending[i]
		open[i] = !pending && !arm.Done && (c.cfg.Limits.RoundsPerArm == 0 || c.pulls[i] < c.cfg.Limits.RoundsPerArm)
		some = some || open[i]
	}
	return open, some
}

// Take takes in the outcome of a pending pull, in whatever order outcomes come. It reports whether the policy is
// to be told ([Core.Report]). Otherwise the pull is canceled and the policy never hears of it: the reward of a
// step that was cut short is not that of the whole step, which a resumed run makes and reports.
func (c *Core) Take(o Outcome) (report bool, err error) {
	d, err := c.take(o.Pull)
	if err != nil {
		return false, err
	}
	// Counted also if the run has stopped, or the step was cut short: it was paid for.
	c.reserved -= d.Calls
	c.beside -= d.Asides
	c.calls += o.Calls
	c.stalls += o.Stalls
	c.evaluations += o.Evaluations
	if c.full == "" {
		c.full = o.Limit
	}
	c.gain(o.Best)
	if o.Whole && c.why == "" {
		return true, nil
	}
	return false, c.player.Cancel(o.Pull)
}

// take returns what was decided about a pending pull, and removes it from those that are pending.
func (c *Core) take(pull int) (Decision, error) {
	for arm, d := range c.pending {
		if d.Pull.ID == pull {
			delete(c.pending, arm)
			return d, nil
		}
	}
	return Decision{}, fmt.Errorf("allocation: an outcome of pull %d, which is not pending", pull)
}

// gain takes in an arm's best. Patience counts outcomes and not draws, since with several pulls in flight a draw
// cannot know yet what those before it bring.
func (c *Core) gain(s Score) {
	c.idle++
	if s.better(c.best) {
		c.best, c.idle = s, 0
	}
	if p := c.cfg.Limits.Patience; p > 0 && c.idle >= p {
		c.weary = true
	}
}

// Report tells the policy the reward of a pull whose outcome was taken in. It fails if the reward is not finite,
// and then tells the policy nothing: a single NaN in its sums would make every later probability NaN.
func (c *Core) Report(pull int, reward float64) error { return c.player.Report(pull, reward) }

// End stops the run and returns the stop. If the run has a reason to stop already, that one stands: later reasons
// often follow from it, and replay has to find the same one.
func (c *Core) End(why Why, limit string) Decision {
	if c.why == "" {
		c.why, c.limit = why, limit
	}
	return Decision{Kind: Stop, Why: c.why, Limit: c.limit}
}

// Ended returns why the run stops, "" if it goes on, and the limit that bound.
func (c *Core) Ended() (Why, string) { return c.why, c.limit }

// Exhausted reports whether nothing more would be drawn, whatever is pending: a limit binds, every arm is
// done, or the target is reached.
func (c *Core) Exhausted(arms []Arm) bool {
	_, some := c.Open(arms)
	return c.why != "" || !some || c.bound() != "" || c.Reached()
}

// Reached reports whether the best so far is what the run was looking for.
func (c *Core) Reached() bool {
	t := c.cfg.Limits.Target
	return t != nil && c.best.Valid && c.best.Value >= *t
}
