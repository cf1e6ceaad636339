package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// A Canary is a program whose score is known. It is scored between the evaluations of a search. If its score changes,
// the evaluator has changed: another version of a library, a machine under load, a file that a candidate overwrote.
type Canary struct {
	Program string  // required
	Score   float64 // the program's true score; finite
	// Tolerance is how far a score may differ from Score, in units of the score; 0 means not at all. For a noisy evaluator
	// take a few standard deviations: with 4 of them about one canary in 16,000 stops a run by chance.
	Tolerance float64
	Every     int // evaluations between two of the canary's own; 0 means 100
}

// canaryEvery is the default of Canary.Every, at which a canary adds a hundredth to the cost.
const canaryEvery = 100

func (c Canary) check() error {
	switch {
	case c.Program == "":
		return errors.New("its Program is empty")
	case notFinite(c.Score):
		return fmt.Errorf("its Score is %v: need the program's true score, a finite number", c.Score)
	case !(c.Tolerance >= 0) || math.IsInf(c.Tolerance, 1):
		return fmt.Errorf("its Tolerance is %v: need 0 for an exact score, or more", c.Tolerance)
	case c.Every < 0:
		return fmt.Errorf("its Every is %d: need 0 for %d evaluations, or more", c.Every, canaryEvery)
	}
	return nil
}

// ErrDrift means that a canary missed its score.
var ErrDrift = errors.New("eval: the evaluator has drifted")

// WithCanaries returns an Evaluator that scores canaries with e between the evaluations of programs: each before the
// first evaluation, and again whenever Every others have begun since. Other evaluations wait meanwhile.
//
// If a canary is invalid or misses its score by more than its tolerance, this evaluation and all later ones return an
// error that is [ErrDrift], which ends a run. The error names the canary, the score wanted and the score found. An
// error of e itself is returned unchanged, and the canary is scored again next time.
//
// A canary's evaluation is not one of the run's: no result, no journal and no Budget.Evaluations includes it. The
// evaluation that waits for a canary calls the Queued of its context's [llm.Trace], so the wait uses none of
// Budget.EvalTime. Model calls that a canary makes through [llm.Ask] count as calls of the evaluation that waits.
// Evaluations that a resumed run recalls are not counted, and its first new one waits for the canaries. A [Sampler] is
// asked for fresh samples of a canary, numbered from half of the largest int on, so that it cannot answer with a stored
// result.
//
// The Evaluator prints as e does, and a journal treats its results as those of e. Canaries may therefore be added to or
// removed from a resumed run. If e is a [Composite], its parts are counted, and a canary's own parts are evaluated one
// at a time, so that a [Limit] around the whole holds.
//
// The Evaluator has a method Check(context.Context) error, which scores all canaries now. Call it before a run is
// resumed: its first call of a model may come before its first evaluation.
//
// WithCanaries panics without a canary, or if a field of one is wrong.
func WithCanaries(e Evaluator, canaries ...Canary) Evaluator {
	if len(canaries) == 0 {
		panic("eval: WithCanaries without a canary")
	}
	w := &watch{e: e, canaries: slices.Clone(canaries), left: make([]int, len(canaries)), turn: make(chan struct{}, 1)}
	for i, c := range canaries {
		if err := c.check(); err != nil {
			panic(fmt.Sprintf("eval: WithCanaries: canary %d: %v", i, err))
		}
		w.canaries[i].Every = cmp.Or(c.Every, canaryEvery)
	}
	g := &guarded{watch: w, Evaluator: e}
	if c, ok := e.(Composite); ok {
		return &guardedComposite{g, c}
	}
	return g
}

// A watch schedules canaries. The fields after turn belong to the goroutine that holds turn.
type watch struct {
	e        Evaluator
	canaries []Canary
	turn     chan struct{} // holds one value while a goroutine counts or scores
	left     []int         // by canary: evaluations until it is due
	begun    int           // evaluations of programs
	sound    int           // the number begun when all canaries due last passed
	drift    error         // permanent
}

// admit waits for the canaries that are due, and counts an evaluation.
func (w *watch) admit(ctx context.Context) error {
	return w.hold(ctx, func() error {
		if err := w.score(ctx, func(i int) bool { return w.left[i] == 0 }); err != nil {
			return err
		}
		for i := range w.left {
			w.left[i]--
		}
		w.begun++
		return nil
	})
}

// Check scores all canaries now.
func (w *watch) Check(ctx context.Context) error {
	return w.hold(ctx, func() error { return w.score(ctx, func(int) bool { return true }) })
}

// hold calls f while no other goroutine does.
func (w *watch) hold(ctx context.Context, f func() error) error {
	served := llm.TraceOf(ctx).Queued()
	defer served()
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("eval: waiting for a canary: %w", context.Cause(ctx))
	}
	defer func() { <-w.turn }()
	if w.drift != nil {
		return w.drift
	}
	return f()
}

// score scores the canaries that are due.
func (w *watch) score(ctx context.Context, due func(i int) bool) error {
	scored := false
	for i, c := range w.canaries {
		if !due(i) {
			continue
		}
		r, err := w.scoreFresh(ctx, c.Program)
		switch {
		case err != nil:
			return fmt.Errorf("eval: scoring a canary: %w", err)
		case !r.Valid && ctx.Err() != nil: // it may be invalid because it was canceled
			return fmt.Errorf("eval: scoring a canary: %w", context.Cause(ctx))
		case !r.Valid || math.Abs(r.Score-c.Score) > c.Tolerance:
			w.drift = w.drifted(c, r)
			return w.drift
		}
		w.left[i], scored = c.Every, true
	}
	if scored {
		w.sound = w.begun
	}
	return nil
}

// scoreFresh evaluates program, its parts one at a time: an evaluation that waits may hold one slot of a limit, and no
// more. It uses a sample number that no evaluation has had, so that a [Sampler] cannot return a stored result.
func (w *watch) scoreFresh(ctx context.Context, program string) (Result, error) {
	sample := math.MaxInt/2 + rand.IntN(math.MaxInt/2)
	c, ok := w.e.(Composite)
	if !ok {
		r, err := EvaluateSample(ctx, w.e, program, sample)
		return r.Clean(), err
	}
	one := make(chan struct{}, 1)
	return ComposeBy(c, program, sample, func(part Evaluator) (Result, error) {
		one <- struct{}{}
		defer func() { <-one }()
		if part, ok := part.(Composite); ok {
			return (&watch{e: part}).scoreFresh(ctx, program)
		}
		return part.Evaluate(ctx, program)
	}, nil)
}

// drifted returns the error of a canary that missed its score.
func (w *watch) drifted(c Canary, r Result) error {
	got := fmt.Sprintf("scored %v", r.Score)
	if !r.Valid {
		got = fmt.Sprintf("is invalid (%s)", r.Reason)
	}
	when := "before the first evaluation"
	if w.begun > 0 {
		when = fmt.Sprintf("after %d evaluations, of which the last %d came after it last passed and may have wrong scores",
			w.begun, w.begun-w.sound)
	}
	return fmt.Errorf("%w: the canary %q (%d bytes) should score %v within %v, and %s %s: repair the evaluator and "+
		"resume, or correct the canary if its score is wrong",
		ErrDrift, firstLine(c.Program), len(c.Program), c.Score, c.Tolerance, got, when)
}

// firstLine returns the first line of a program that is not blank, shortened to a name.
func firstLine(program string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(program), "\n")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:60]) + "…"
	}
	return Printable(line)
}

// guarded is an Evaluator that waits for canaries.
type guarded struct {
	*watch
	Evaluator
}

// Evaluate waits for canaries that are due.
func (g *guarded) Evaluate(ctx context.Context, program string) (Result, error) {
	return g.EvaluateSample(ctx, program, 0)
}

// EvaluateSample waits for canaries that are due.
func (g *guarded) EvaluateSample(ctx context.Context, program string, sample int) (Result, error) {
	if err := g.admit(ctx); err != nil {
		return Result{}, err
	}
	return EvaluateSample(ctx, g.Evaluator, program, sample)
}

// Unlimited returns the evaluator without canaries. Canaries do not change results, so a run remembers both as one.
func (g *guarded) Unlimited() Evaluator { return g.Evaluator }

// String returns the name of the evaluator without canaries.
func (g *guarded) String() string { return nameOf(g.Evaluator) }

// guardedComposite is a Composite whose parts wait for canaries.
type guardedComposite struct {
	*guarded
	c Composite
}

var _ Composite = (*guardedComposite)(nil)

// Evaluate waits before each part, and not before the whole.
func (g *guardedComposite) Evaluate(ctx context.Context, program string) (Result, error) {
	return g.EvaluateSample(ctx, program, 0)
}

// EvaluateSample waits before each part of that sample.
func (g *guardedComposite) EvaluateSample(ctx context.Context, program string, sample int) (Result, error) {
	return ComposeBy(g, program, sample, func(part Evaluator) (Result, error) { return part.Evaluate(ctx, program) }, nil)
}

// Parts returns parts that wait for canaries.
func (g *guardedComposite) Parts(program string, sample int) ([]Evaluator, error) {
	parts, err := g.c.Parts(program, sample)
	waiting := make([]Evaluator, len(parts))
	for i, p := range parts {
		waiting[i] = g.watch.around(p)
	}
	return waiting, err
}

// around returns a part that waits for canaries, or whose own parts do if it has any.
func (w *watch) around(part Evaluator) Evaluator {
	if c, ok := part.(Composite); ok {
		return &guardedComposite{&guarded{w, part}, c}
	}
	return guardedPart{w, part}
}

// Join joins as the composite does.
func (g *guardedComposite) Join(program string, parts []Result) (Result, error) {
	return g.c.Join(program, parts)
}

// A guardedPart is equal to another of the same part that waits for the same canaries.
type guardedPart struct {
	w *watch
	Evaluator
}

// Evaluate waits for canaries that are due.
func (p guardedPart) Evaluate(ctx context.Context, program string) (Result, error) {
	return p.EvaluateSample(ctx, program, 0)
}

// EvaluateSample waits for canaries that are due.
func (p guardedPart) EvaluateSample(ctx context.Context, program string, sample int) (Result, error) {
	if err := p.w.admit(ctx); err != nil {
		return Result{}, err
	}
	return EvaluateSample(ctx, p.Evaluator, program, sample)
}

// Unlimited returns the part without canaries.
func (p guardedPart) Unlimited() Evaluator { return p.Evaluator }

// String names the part.
func (p guardedPart) String() string { return nameOf(p.Evaluator) }
