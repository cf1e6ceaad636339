package evolve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// Config says what [Run] runs.
type Config struct {
	Arms []Arm // at least one
	// Policy draws the arm that gets the next step; nil is allowed with one arm.
	Policy bandit.Policy
	Budget Budget // at least one limit
	// Reward is what the policy is told of a step; it must be finite. nil means the arm's best score after the step. While
	// it has no valid candidate, that is the lowest such score of the run so far, 0 before there is one. Policy then is
	// [bandit.Rescale] of the one given, as it may expect rewards in [0, 1]. With a Reward, such as [RawScore], it stays.
	Reward func(Generation) float64
	// InFlight is how many arms are advanced at once, each by at most one pull; 0 means 1.
	//
	// With more than 1 the order of draws depends on which step ends first. Where a slot of an [llm.Limit] stands idle
	// all the same, as the arms in flight wait for slow replies, one more arm is drawn, up to twice InFlight.
	InFlight int
	Seed     uint64 // of the draws; 0 is a seed like another
	// Grace is how long calls that are under way may go on once the context has ended; 0 means not at all.
	// They are paid for, so what their replies hold is scored and recorded if they end in time.
	Grace time.Duration
	// Journal makes the run durable: it records every reply, every evaluation and every decision, and gives
	// those of earlier incarnations back. nil means that the run cannot be resumed. There is nothing else to
	// wire: what arms ask through their [Turn] is recorded.
	Journal *journal.Journal
	// ValidStart says that an arm must not begin with a program that is invalid. If one does, the run ends with
	// [ErrInvalidStart] before a model is asked. Otherwise any valid child is better than such a program.
	ValidStart bool
	// Audit has a second evaluator score the best of each step; nil means that there is none.
	Audit *Audit
	// Observer is called with every event, in order, on Run's goroutine, so it must not wait for the run; nil for
	// none.
	Observer func(Event)
}

// ErrInvalidStart says that an arm begins with an invalid program, which [Config.ValidStart] forbids.
var ErrInvalidStart = errors.New("an arm begins with an invalid program")

// withDefaults returns c with its defaults filled in. Only with one arm has the policy a default: with several
// it is what the run is about, and a silent choice would be a result that nobody asked for.
func (c Config) withDefaults() Config {
	c.InFlight = cmp.Or(c.InFlight, 1)
	if c.Policy == nil && len(c.Arms) == 1 {
		c.Policy = bandit.Random{}
	}
	if c.Reward == nil {
		c.Reward = bestScore()
		if c.Policy != nil {
			c.Policy = bandit.Rescale(c.Policy)
		}
	}
	if c.Observer == nil {
		c.Observer = func(Event) {}
	}
	return c
}

// RawScore is the reward of the BaSE paper: the arm's best score after the step, 0 while it has no valid candidate.
func RawScore(g Generation) float64 { return g.Best.Result.Score }

// bestScore returns the default Reward of one run.
func bestScore() func(Generation) float64 {
	lowest, some := 0.0, false
	return func(g Generation) float64 {
		if !g.Best.Result.Valid {
			return lowest
		}
		if score := g.Best.Result.Score; !some || score < lowest {
			lowest, some = score, true
		}
		return g.Best.Result.Score
	}
}

func (c Config) validate() error {
	switch {
	case len(c.Arms) == 0:
		return errors.New("evolve: Config.Arms is empty: need at least 1 arm")
	case c.Policy == nil:
		return fmt.Errorf("evolve: Config.Policy is nil with %d arms", len(c.Arms))
	case c.InFlight < 1:
		return fmt.Errorf("evolve: Config.InFlight is %d: need at least 1, or 0 for the default", c.InFlight)
	case c.Grace < 0:
		return fmt.Errorf("evolve: Config.Grace is %v: need 0 or more", c.Grace)
	}
	if err := c.Audit.validate(c.Arms); err != nil {
		return err
	}
	return c.Budget.validate()
}

// fingerprint returns what decides the run, as far as that can be printed. A func such as Reward cannot, but rewards
// are compared in replay. Grace and Observer decide nothing.
func (c Config) fingerprint() journal.Fingerprint {
	f := c.Budget.fingerprint()
	f["policy"], f["seed"] = nameOf(c.Policy), fmt.Sprint(c.Seed)
	f["arms"], f["in_flight"] = fmt.Sprint(len(c.Arms)), fmt.Sprint(c.InFlight)
	if b := breadths(c.Arms); b != "" { // not without one, so that older journals still fit
		f["breadth"] = b
	}
	if slices.ContainsFunc(c.Arms, takesTies) { // older journals, without the word, are of strict searches
		f["ties"] = "taken"
	}
	if p := proposersOf(c.Arms); p != "" { // not of one, so that older journals still fit
		f["proposers"] = p
	}
	if c.Audit != nil {
		f["audit"] = fmt.Sprintf("%v, demote %v", second{c.Audit.By}, c.Audit.Demote)
	}
	return f
}

// breadths returns the breadth of the arms, "" for none, and where they differ that of each in a list: arms that
// exchange theirs are another run. Of an arm without a method Breadth the calls that it was granted are compared in
// replay.
func breadths(arms []Arm) string {
	names := make([]string, len(arms))
	for i, arm := range arms {
		if a, ok := arm.(interface{ Breadth() Breadth }); ok && a.Breadth() != nil {
			names[i] = nameOf(a.Breadth())
		}
	}
	if len(slices.Compact(slices.Clone(names))) == 1 {
		return names[0]
	}
	return "[" + strings.Join(names, "; ") + "]"
}

// proposersOf returns the proposers of the arms that say so, each list once.
func proposersOf(arms []Arm) string {
	var lists []string
	for _, arm := range arms {
		if a, ok := arm.(interface{ proposers() string }); ok && a.proposers() != "" {
			lists = append(lists, a.proposers())
		}
	}
	slices.Sort(lists)
	return strings.Join(slices.Compact(lists), "; ")
}

// takesTies reports whether arm is a greedy search that is not Strict. One that embeds it may take in other children.
func takesTies(arm Arm) bool {
	g, ok := as[*Greedy](arm)
	return ok && !g.cfg.Strict
}

// nameOf returns what the String method of a policy or an arm does, or else its type. Without that method its fields
// would be printed, among them pointers, which differ from process to process, so no run with it could be resumed.
func nameOf(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}

// raises reports whether now differs from then in one field alone: the limit of the given name, which can be
// raised and is larger. With more calls more of them may stall.
func raises(limit string, then, now journal.Fingerprint) bool {
	if !(Budget{}).limit(limit, books.Amounts{}).raisable {
		return false
	}
	name := "Budget." + limit
	but := maps.Clone(now)
	but[name] = then[name]
	if stalls := "Budget.Stalls"; limit == "Calls" && limitOf(now[stalls]) >= limitOf(then[stalls]) {
		but[stalls] = then[stalls] // its default is a part of the calls
	}
	return maps.Equal(then, but) && limitOf(now[name]) > limitOf(then[name])
}

// limitOf returns the number of a limit in a fingerprint, in seconds if it is a time. For other text it returns
// NaN: it compares as false with everything, so such a limit is never taken for a larger one.
func limitOf(text string) float64 {
	if text == noLimit {
		return math.Inf(1)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return math.NaN()
}

// ranBy returns what a journal says of the run beside what is compared: its models and arms, and the limits.
func (c Config) ranBy() (models []record.Model, arms []record.Arm, l *books.Ledger) {
	for _, m := range c.Budget.Models {
		m = m.WithDefaults()
		models = append(models, record.Model{Key: m.Key, Name: m.Name, ActiveParams: m.ActiveParams,
			Price: (*record.Price)(m.Price)})
	}
	for _, a := range c.Arms {
		arm := record.Arm{Name: nameOf(a)}
		if s, ok := a.(interface{ Seed() uint32 }); ok {
			seed := s.Seed()
			arm.Seed = &seed
		}
		arms = append(arms, arm)
	}
	return models, arms, &books.Ledger{Limit: c.Budget.shown()}
}
