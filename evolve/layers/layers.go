package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// Config says what the two stages of [Layers] are, and by which rules one leads to the other.
type Config struct {
	// Bases is stage one, the search that makes bases; required. Several searches are an [evolve.Allocator].
	Bases evolve.Arm
	// Combine makes stage two of a pool that is frozen, best first; required. It is called once a round, with one base
	// or more. Its search has a task, a population and a selection of its own. Its scores have to be on the scale of
	// the bases' scores, because the two are compared. What it makes must depend on the pool alone, and its evaluator
	// has to print the pool, as by [Digest]: a run knows evaluators by how they print.
	Combine func(pool []eval.Candidate) (evolve.Arm, error)
	// Whole makes one program, complete in itself, of a pool and a combination of it. nil means that the answer is the
	// combination as it stands, which is worth nothing without [Layers.Pool].
	Whole func(pool []eval.Candidate, combination string) string

	// Calls is how many model calls both stages have, as evolve.Budget.Calls counts them; required.
	Calls int
	// Share is the part of Calls that stage one has, less than 1; 0 means a half.
	Share float64
	// Rounds is how often stage one and stage two follow each other, each with an equal part of its share; 0 means
	// once. Stage one goes on where it was. The pool is frozen anew, and stage two made anew.
	Rounds int

	Pool    Pool      // which bases are frozen; its zero value is the best 8 that are not alike
	Promote Promotion // when a combination is the answer; its zero value is if it is better than the best base
	Back    HandBack  // what stage one is told at the end of a round but the last; nil means nothing
}

func (c Config) withDefaults() Config {
	c.Share, c.Rounds = cmp.Or(c.Share, 0.5), cmp.Or(c.Rounds, 1)
	c.Pool = c.Pool.withDefaults()
	return c
}

func (c Config) validate() error {
	switch {
	case c.Bases == nil:
		return errors.New("layers: Config.Bases is nil: need a search that makes bases")
	case c.Combine == nil:
		return errors.New("layers: Config.Combine is nil: need a func that makes the search over a pool")
	case c.Calls < 2:
		return fmt.Errorf("layers: Config.Calls is %d: need at least 2, one for each stage", c.Calls)
	case !(c.Share > 0 && c.Share < 1):
		return fmt.Errorf("layers: Config.Share is %v: need a part of Calls between 0 and 1, or 0 for a half", c.Share)
	case c.Rounds < 0 || c.Rounds > c.Calls/2:
		return fmt.Errorf("layers: Config.Rounds is %d: need 0 for one, or at most half of the %d calls", c.Rounds, c.Calls)
	}
	return errors.Join(c.Pool.validate(), c.Promote.validate())
}

// Layers is a search in two stages. Its steps are those of stage one until that has had its share of the calls, then
// those of stage two. Make one with [New]. One goroutine at a time calls it.
//
// What one stage leaves is the other's: if stage one is done early, stage two has the rest; if all bases are invalid,
// stage one goes on, until there is one that is not. What stage two leaves of a round is the next round's, and of the
// last round it is not spent.
//
// Searches of noisy tasks may be stages, and score programs again. The best of the run is not claimed on fresh samples
// then, as the answer may be a program that neither stage's evaluator scores: score it with one of your own.
//
// A result has both stages in one arm. The children of stage one have the label "search" 0, those of stage two in
// round r the label r, and [evolve.Allocator.Result] has them as arms.
type Layers struct {
	*evolve.Allocator
	cfg      Config
	order    *order
	first    *first
	seconds  []*second
	best     eval.Candidate // the answer so far, once started
	promoted bool
	started  bool
	err      error // of Config.Combine
}

var (
	_ evolve.Sizer   = (*Layers)(nil)
	_ evolve.Starter = (*Layers)(nil)
)

// New returns a search that has not begun. It fails if a field of cfg is missing or wrong, naming the value.
func New(cfg Config) (*Layers, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	l := &Layers{cfg: cfg, order: &order{}}
	l.first = &first{arm: cfg.Bases, left: l.left, found: newFound()}
	arms := []evolve.Arm{l.first}
	for range cfg.Rounds {
		s := &second{left: l.left}
		l.seconds, arms = append(l.seconds, s), append(arms, s)
	}
	inner, err := evolve.NewAllocator(evolve.Config{Arms: arms, Policy: l.order,
		Budget: evolve.Budget{Calls: cfg.Calls, Stalls: -1}}) // a run's own limit of stalls holds
	if err != nil {
		return nil, fmt.Errorf("layers: %w", err)
	}
	l.Allocator = inner
	return l, nil
}

// Start lets stage one evaluate what it begins with. If that is all it has, it is stage two's turn.
func (l *Layers) Start(ctx context.Context, turn *evolve.Turn) error {
	if l.started || l.err != nil {
		return l.err
	}
	if err := l.Allocator.Start(ctx, turn); err != nil {
		return err
	}
	l.started = true
	l.first.found.add(l.first.Best())
	l.settle()
	l.turns()
	return l.err
}

// Step makes one step of the stage whose turn it is.
func (l *Layers) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	before := l.Best()
	if err := l.Start(ctx, turn); err != nil {
		return evolve.Generation{Before: before, Best: before, Partial: true}, err
	}
	before = l.Best()
	gen, err := l.Allocator.Step(ctx, turn)
	l.settle()
	if err == nil {
		l.turns()
	}
	gen.Before, gen.Best = before, l.Best()
	return gen, err
}

// Best returns the answer so far: the best combination if [Promotion] accepts it, else the best base.
func (l *Layers) Best() eval.Candidate {
	if !l.started {
		return l.first.Best()
	}
	return l.best
}

// Promoted reports whether Best is a combination.
func (l *Layers) Promoted() bool { return l.promoted }

// Pool returns the bases that the round's combinations are made of; nil before they are frozen. It must not be changed.
func (l *Layers) Pool() []eval.Candidate {
	for _, s := range slices.Backward(l.seconds) {
		if s.arm != nil {
			return s.pool
		}
	}
	return nil
}

// Calls returns how many calls the next step would like: what its search does, within what its stage has left.
func (l *Layers) Calls() int { return l.stage().Calls() }

// Done reports whether nothing is left to step: the calls are spent, or the search of the last stage is done.
func (l *Layers) Done() bool {
	return l.err == nil && (l.Allocator.Done() || l.stage().Done())
}

// String names the rules.
func (l *Layers) String() string {
	back := "nothing"
	if l.cfg.Back != nil {
		back = nameOf(l.cfg.Back)
	}
	return fmt.Sprintf("Layers(bases by %s, %v of %d calls; pool of %v; promote %v; hand back %s; rounds %d)",
		nameOf(l.cfg.Bases), l.cfg.Share, l.cfg.Calls, l.cfg.Pool, l.cfg.Promote, back, l.cfg.Rounds)
}

// stage returns the stage whose turn it is.
func (l *Layers) stage() evolve.Sizer {
	if l.order.combining {
		return l.seconds[l.order.round]
	}
	return l.first
}

// used returns how many calls were answered.
func (l *Layers) used() int { return l.Result().Calls }

// quota returns how many calls have been answered in all when the turn of a stage ends.
func (l *Layers) quota() int {
	part := float64(l.order.round) + l.cfg.Share
	if l.order.combining {
		part = float64(l.order.round + 1)
	}
	return max(1, int(math.Round(float64(l.cfg.Calls)*part/float64(l.cfg.Rounds))))
}

// left returns how many calls the stage whose turn it is may still make. Where its quota is spent and its turn has not
// ended, because nothing can be combined, it has what both stages have.
func (l *Layers) left() int {
	if left := l.quota() - l.used(); left > 0 {
		return left
	}
	return max(1, l.cfg.Calls-l.used())
}

// turns gives the other stage its turn, as often as one has ended.
func (l *Layers) turns() {
	for l.err == nil && l.advance() {
	}
}

// advance gives the other stage its turn if this one's has ended, and reports whether it did.
func (l *Layers) advance() bool {
	if l.used() < l.quota() && !l.stage().Done() || l.used() >= l.cfg.Calls {
		return false
	}
	round := l.order.round
	switch {
	case !l.order.combining:
		l.order.combining = l.freeze(round)
		return l.order.combining
	case round+1 < l.cfg.Rounds:
		if l.cfg.Back != nil {
			l.cfg.Back.Back(Win{Pool: l.Pool(), Combination: l.seconds[round].Best(), Promoted: l.promoted})
		}
		l.order.round, l.order.combining = round+1, false
		return true
	}
	return false
}

// freeze makes the pool and stage two of a round. It reports false if nothing can be combined.
func (l *Layers) freeze(round int) bool {
	pool := l.cfg.Pool.Pick(l.first.found.all())
	if len(pool) == 0 {
		return false
	}
	arm, err := l.cfg.Combine(slices.Clone(pool))
	if err == nil && arm == nil {
		err = errors.New("Config.Combine returned neither a search nor an error")
	}
	if err != nil {
		l.err = fmt.Errorf("layers: combining %d bases: %w", len(pool), err)
		return false
	}
	s := l.seconds[round]
	s.arm, s.pool = arm, pool
	return true
}

// settle finds the answer.
func (l *Layers) settle() {
	base := l.first.Best()
	l.best, l.promoted = base, false
	var most eval.Candidate
	for _, s := range l.seconds {
		if win := s.Best(); s.arm != nil && l.cfg.Promote.Accepts(base, win) && (!l.promoted || win.Better(most)) {
			most, l.promoted = win, true
			l.best = l.whole(s.pool, win)
		}
	}
}

// whole returns a combination as the answer is given.
func (l *Layers) whole(pool []eval.Candidate, win eval.Candidate) eval.Candidate {
	if l.cfg.Whole != nil {
		win.Program = l.cfg.Whole(slices.Clone(pool), win.Program)
	}
	return win
}

// nameOf returns what the String method of v does, or else its type.
func nameOf(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}
