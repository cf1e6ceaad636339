// Package paper repeats the code of the BaSE paper (arXiv:2605.29268) decision for decision, so that its
// published selections can be had again: its four policies, on CPython's random numbers, with its way of
// dealing with exhausted arms. For runs of your own take the policies of package bandit instead. A file of the paper
// gives a [Config] as Run.Algo, len(Arms) and int64(Run.Seed) of its replay.Log, and replay.Play and replay.Verify take
// the [Policy].
//
// What it keeps from that code, and what package bandit does instead:
//
//   - A policy chooses by itself, drawing from its own generator ([Random]), one stream over the whole
//     run: any extra draw shifts all later ones. In bandit a policy returns probabilities, and each draw
//     has a stream of its own, addressed by seed and number.
//   - A policy is not told that arms are exhausted. With a cap of rounds per arm it still chooses among
//     all of them. If its choice is exhausted, the arm with the fewest pulls takes the round, and the
//     policy learns from that pull as if it had chosen it. So EXP3.P weighs a fallback by the probability
//     of an arm that was not drawn for it, and UCB1 may go on choosing an exhausted arm for ever while
//     the rounds are dealt out in turn. In bandit the policy is told which arms are open and gives the
//     others no mass.
//   - Of arms with equally few pulls a fallback takes the first in the order of a Python set. With four
//     arms left or fewer that is not the order of their numbers (8, 9, 6, 7). In bandit ties go to the
//     lowest.
//   - EXP3.P keeps its weights as they are. A long run of rewards makes them +Inf, and the probabilities
//     NaN, after which the last arm is chosen in every round: at K = 10 and rewards near 1 after some
//     nine thousand rounds. bandit.PaperEXP3P has the same formula in the log domain.
//   - Thompson makes one normal draw per arm, in index order, exhausted arms included, and takes the
//     largest. bandit.GaussianThompson integrates the chances.
//   - Exploration by UCB1 starts with the lowest arm not pulled yet, as in bandit; but a fallback counts.
//   - A reward of NaN counts as 0. In bandit it is ignored, as all that are not finite.
//   - One pull is pending at a time.
//   - Seeds −s and s are the same, as in Python.
//
// The paper's files do not tell its code in every detail. What is here was found to give each of the 80
// recorded runs in testdata: 4 policies, K = 1 to 20, T = 8 to 512, with and without a cap, the choices
// before the fallback included.
package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
)

// The paper's policies, by the names that its files and flags give them.
const (
	UCB      = "ucb"
	EXP3P    = "exp3p"
	Thompson = "thompson"
	Uniform  = "random"
)

// Algos returns the names of the policies.
func Algos() []string { return []string{UCB, EXP3P, Thompson, Uniform} }

// A Config says what to play.
type Config struct {
	Algo string // one of [Algos]
	Arms int    // K, at least 1
	Seed int64  // of the policy's generator; 0 is a seed like any other
	Cap  int    // rounds per arm; 0 means no cap
}

func (c Config) validate() error {
	switch {
	case !slices.Contains(Algos(), c.Algo):
		return fmt.Errorf("paper: unknown algorithm %q: it is one of %s", c.Algo, strings.Join(Algos(), ", "))
	case c.Arms < 1:
		return fmt.Errorf("paper: %d arms: need at least 1", c.Arms)
	case c.Cap < 0:
		return fmt.Errorf("paper: a cap of %d rounds per arm: need at least 0", c.Cap)
	}
	return nil
}

// A Choice is the arm that a round goes to, and the one that the policy chose.
type Choice struct {
	Arm int // the arm that the round goes to
	Raw int // what the policy chose; Arm is another one if this was exhausted
}

// A chooser is one of the paper's policies.
type chooser interface {
	choose() int
	update(arm int, reward float64)
}

// An Allocator plays one of the paper's policies over arms with a cap of rounds. One goroutine owns it.
type Allocator struct {
	policy chooser
	cap    int
	pulls  []int
}

// New returns an Allocator that has played no round. It returns an error if cfg is wrong.
func New(cfg Config) (*Allocator, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Allocator{policy: newChooser(cfg), cap: cfg.Cap, pulls: make([]int, cfg.Arms)}, nil
}

func newChooser(cfg Config) chooser {
	r := NewRandom(cfg.Seed)
	switch cfg.Algo {
	case UCB:
		return &ucb{counts: newCounts(cfg.Arms)}
	case EXP3P:
		return newEXP3P(cfg.Arms, r)
	case Thompson:
		return &thompson{counts: newCounts(cfg.Arms), rand: r}
	}
	return &uniform{arms: cfg.Arms, rand: r}
}

// Select chooses the arm of the next round; [Allocator.Update] ends the round. Once every arm has had
// its cap it returns [bandit.ErrNoArm], and draws nothing. Every call draws anew from the policy's
// generator, so a round has one call.
func (a *Allocator) Select() (Choice, error) {
	if !slices.ContainsFunc(a.pulls, a.open) {
		return Choice{}, bandit.ErrNoArm
	}
	raw := a.policy.choose()
	return Choice{Arm: fallback(raw, a.pulls, func(arm int) bool { return a.open(a.pulls[arm]) }), Raw: raw}, nil
}

// open reports whether an arm with the given pulls may have more.
func (a *Allocator) open(pulls int) bool { return a.cap == 0 || pulls < a.cap }

// Update gives the policy the reward of a round: the arm's best score so far, in the paper. NaN counts as 0. It
// panics if the arm does not exist.
func (a *Allocator) Update(arm int, reward float64) {
	must(arm >= 0 && arm < len(a.pulls), "Update of arm %d of %d", arm, len(a.pulls))
	a.pulls[arm]++
	a.policy.update(arm, taken(reward))
}

// taken returns a reward as the paper's code takes it, in which NaN counts as 0.
func taken(reward float64) float64 {
	if math.IsNaN(reward) {
		return 0
	}
	return reward
}

// fallback returns raw if it is open, else the open arm with the fewest pulls, of equals the one that comes
// first in a Python set of the open arms.
func fallback(raw int, pulls []int, open func(arm int) bool) int {
	if open(raw) {
		return raw
	}
	var left []int
	for arm := range pulls {
		if open(arm) {
			left = append(left, arm)
		}
	}
	return slices.MinFunc(setOrder(left), func(a, b int) int { return cmp.Compare(pulls[a], pulls[b]) })
}
