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
	// Combine makes stage two of the pool when it is frozen, of at least one base; required. Its search has a task, a
	// population and a selection of its own. Its scores have to be on the scale of the bases' scores, because the two
	// are compared. What it makes must depend on the pool alone, and its evaluator has to print the pool, as by
	// [Digest]: a run knows evaluators by how they print.
	Combine func(pool []eval.Candidate) (evolve.Arm, error)
	// Whole makes one program, complete in itself, of a pool and a combination of it. nil means that the answer is the
	// combination as it stands, which is worth nothing without [Layers.Pool].
	Whole func(pool []eval.Candidate, combination string) string

	// Calls is how many model calls both stages have, as evolve.Budget.Calls counts them; required.
	Calls int
	// Share is the part of Calls that stage one has, less than 1; 0 means a half.
	Share float64
	// Most is how many bases the pool has at most; 0 means 8.
	Most int
	// Language is that of the bases, "javascript" or "python", so that two are alike whose comments or layout differ; ""
	// means text.
	Language string
	// Margin is how much more than the best base a combination has to score to be the answer, such as what a noisy
	// evaluator's scores differ by; 0 means any more.
	Margin float64
}

func (c Config) withDefaults() Config {
	c.Share, c.Most = cmp.Or(c.Share, 0.5), cmp.Or(c.Most, 8)
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
	case c.Most < 0:
		return fmt.Errorf("layers: Config.Most is %d: need 0 for 8 bases, or more", c.Most)
	case !(c.Margin >= 0) || math.IsInf(c.Margin, 0):
		return fmt.Errorf("layers: Config.Margin is %v: need a difference of scores, 0 or more", c.Margin)
	}
	return nil
}

// Layers is a search in two stages. Its steps are those of stage one until that has had its share of the calls, then
// those of stage two. Make one with [New]. One goroutine at a time calls it.
//
// What one stage leaves is the other's: if stage one is done early, stage two has the rest; if all bases are invalid,
// stage one goes on until there is one that is not. What stage two leaves is not spent.
//
// The pool is taken of the bases that are valid: first the best, then one after the other the base that raises the
// most what the pool would score with the best of it at each of Result.Cases, until none does. What is raised is a
// submodular function, so this greedy choice reaches at least 1 − 1/e of the most that as many bases can raise it (G.
// Nemhauser, L. Wolsey, M. Fisher, "An analysis of approximations for maximizing submodular set functions", 1978).
// Where bases have no cases the best by score are taken. Of bases that are alike by 0.95, as their runs of 5 tokens
// measures it, one is.
//
// Searches of noisy tasks may be stages, and score programs again. The best of the run is not claimed on fresh samples
// then, as the answer may be a program that neither stage's evaluator scores: score it with one of your own.
//
// A result has both stages in one arm. The children of stage one have the label "search" 0, those of stage two the
// label 1, and [evolve.Allocator.Result] has them as arms.
type Layers struct {
	*evolve.Allocator
	cfg      Config
	order    *order
	first    *first
	second   *second
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
	l.second = &second{left: l.left}
	inner, err := evolve.NewAllocator(evolve.Config{Arms: []evolve.Arm{l.first, l.second}, Policy: l.order,
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
	l.advance()
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
		l.advance()
	}
	gen.Before, gen.Best = before, l.Best()
	return gen, err
}

// Best returns the answer so far: the best combination if it scores enough more than the best base, else that.
func (l *Layers) Best() eval.Candidate {
	if !l.started {
		return l.first.Best()
	}
	return l.best
}

// Promoted reports whether Best is a combination.
func (l *Layers) Promoted() bool { return l.promoted }

// Pool returns the bases that combinations are made of; nil before they are frozen. It must not be changed.
func (l *Layers) Pool() []eval.Candidate { return l.second.pool }

// Calls returns how many calls the next step would like: what its search does, within what its stage has left.
func (l *Layers) Calls() int { return l.stage().Calls() }

// Done reports whether nothing is left to step: the calls are spent, or the search of the last stage is done.
func (l *Layers) Done() bool {
	return l.err == nil && (l.Allocator.Done() || l.stage().Done())
}

// String names the rules. It stands in the fingerprints of journals, so its words stay.
func (l *Layers) String() string {
	return fmt.Sprintf("Layers(bases by %s, %v of %d calls; pool of %d by cover of cases, at most 1 similar at %v; "+
		"promote if better by %v; hand back nothing; rounds 1)",
		nameOf(l.cfg.Bases), l.cfg.Share, l.cfg.Calls, l.cfg.Most, tooAlike, l.cfg.Margin)
}

// stage returns the stage whose turn it is.
func (l *Layers) stage() evolve.Sizer {
	if l.order.combining {
		return l.second
	}
	return l.first
}

// used returns how many calls were answered.
func (l *Layers) used() int { return l.Result().Calls }

// quota returns how many calls have been answered in all when the turn of a stage ends.
func (l *Layers) quota() int {
	if l.order.combining {
		return l.cfg.Calls
	}
	return max(1, int(math.Round(float64(l.cfg.Calls)*l.cfg.Share)))
}

// left returns how many calls the stage whose turn it is may still make. Where its quota is spent and its turn has not
// ended, because nothing can be combined, it has what both stages have.
func (l *Layers) left() int {
	if left := l.quota() - l.used(); left > 0 {
		return left
	}
	return max(1, l.cfg.Calls-l.used())
}

// advance gives stage two its turn if that of stage one has ended and a base can be combined.
func (l *Layers) advance() {
	over := l.used() >= l.quota() || l.first.Done()
	if l.err != nil || l.order.combining || !over || l.used() >= l.cfg.Calls {
		return
	}
	pool := pick(l.first.found.all(), l.cfg.Most, l.cfg.Language)
	if len(pool) == 0 {
		return
	}
	arm, err := l.cfg.Combine(slices.Clone(pool))
	if err == nil && arm == nil {
		err = errors.New("Config.Combine returned neither a search nor an error")
	}
	if err != nil {
		l.err = fmt.Errorf("layers: combining %d bases: %w", len(pool), err)
		return
	}
	l.second.arm, l.second.pool, l.order.combining = arm, pool, true
}

// settle finds the answer.
func (l *Layers) settle() {
	base, win := l.first.Best(), l.second.Best()
	enough := !base.Result.Valid || win.Result.Score > base.Result.Score+l.cfg.Margin
	l.best, l.promoted = base, win.Better(base) && enough
	if l.promoted {
		l.best = l.whole(l.second.pool, win)
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
