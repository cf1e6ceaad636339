package eval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/evoalloc/evoalloc/llm"
)

// A Composite is an [Evaluator] whose result is made of the results of others: one for each case, say. A run evaluates,
// remembers and records each part by itself, so a part that two evaluations have in common is evaluated once.
type Composite interface {
	Evaluator
	// Parts returns the evaluators of the parts for the sample-th independent evaluation of program. Equal parts must be
	// equal values, and different ones must print differently. A [*ProgramError] means that program is invalid before any
	// part is evaluated; any other error that evaluation itself failed.
	Parts(program string, sample int) ([]Evaluator, error)
	// Join makes the result from the parts' results, which come in the order of the parts. It must depend on its arguments
	// alone.
	Join(program string, parts []Result) (Result, error)
}

// partsAtOnce bounds the goroutines of one evaluation. What the parts use limits them further.
const partsAtOnce = 64

// Compose evaluates the parts of c, several at once, and joins their results, as the Evaluate of a Composite must. It
// returns when all parts that were begun have ended. After a failure no more parts are begun. Of several errors Compose
// returns that of the first part.
func Compose(ctx context.Context, c Composite, program string) (Result, error) {
	return ComposeBy(c, program, 0, func(part Evaluator) (Result, error) { return part.Evaluate(ctx, program) }, nil)
}

// ComposeBy is Compose for a sample, with evaluate instead of the parts' own Evaluate: to look a part up, or to charge
// for it. evaluate is called from several goroutines. After an error for which goOn returns true, further parts are
// begun nevertheless; a nil goOn means never.
func ComposeBy(c Composite, program string, sample int, evaluate func(part Evaluator) (Result, error),
	goOn func(error) bool) (Result, error) {
	parts, err := c.Parts(program, sample)
	var bad *ProgramError
	switch {
	case errors.As(err, &bad):
		r := Result{Reason: bad.Reason, Artifacts: bad.Artifacts}
		return r.Clean(), nil
	case err != nil:
		return Result{}, err
	}
	results, err := each(parts, evaluate, goOn)
	if err != nil {
		return Result{}, err
	}
	r, err := c.Join(program, results)
	return r.Clean(), err
}

// each evaluates parts on goroutines of its own, which have ended when it returns. It repeats the panic of a part on
// the caller's goroutine, where it can be recovered.
func each(parts []Evaluator, evaluate func(Evaluator) (Result, error), goOn func(error) bool) ([]Result, error) {
	results, errs := make([]Result, len(parts)), make([]error, len(parts))
	var next atomic.Int64
	var stop atomic.Bool
	var panicked atomic.Pointer[any]
	var wg sync.WaitGroup
	for range min(len(parts), partsAtOnce) {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					stop.Store(true)
					panicked.Store(&v)
				}
			}()
			for i := next.Add(1) - 1; i < int64(len(parts)) && !stop.Load(); i = next.Add(1) - 1 {
				if results[i], errs[i] = evaluate(parts[i]); errs[i] != nil && (goOn == nil || !goOn(errs[i])) {
					stop.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if v := panicked.Load(); v != nil {
		panic(*v)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// limitedComposite is a Composite whose parts are under a limit.
type limitedComposite struct {
	*limited
	c Composite
}

var _ Composite = limitedComposite{}

// Evaluate takes a slot for each part, and none for the whole, which its own parts would wait for.
func (l limitedComposite) Evaluate(ctx context.Context, program string) (Result, error) {
	return l.EvaluateSample(ctx, program, 0)
}

// EvaluateSample evaluates the parts of that sample.
func (l limitedComposite) EvaluateSample(ctx context.Context, program string, sample int) (Result, error) {
	return ComposeBy(l, program, sample, func(part Evaluator) (Result, error) { return part.Evaluate(ctx, program) }, nil)
}

// Parts returns the parts under the limit.
func (l limitedComposite) Parts(program string, sample int) ([]Evaluator, error) {
	parts, err := l.c.Parts(program, sample)
	limited := make([]Evaluator, len(parts))
	for i, p := range parts {
		limited[i] = l.behind(p)
	}
	return limited, err
}

// behind returns a part under the limit, or whose own parts are if it has any.
func (l *limited) behind(part Evaluator) Evaluator {
	if c, ok := part.(Composite); ok {
		return limitedComposite{&limited{part, l.n, l.sem}, c}
	}
	return limitedPart{l.sem, l.n, part}
}

// Join joins as the composite does.
func (l limitedComposite) Join(program string, parts []Result) (Result, error) {
	return l.c.Join(program, parts)
}

// A limitedPart is equal to another of the same part under the same limit.
type limitedPart struct {
	sem *semaphore.Weighted
	n   int
	Evaluator
}

// Evaluate waits for a slot.
func (p limitedPart) Evaluate(ctx context.Context, program string) (Result, error) {
	return p.EvaluateSample(ctx, program, 0)
}

// EvaluateSample waits for a slot.
func (p limitedPart) EvaluateSample(ctx context.Context, program string, sample int) (Result, error) {
	return within(ctx, p.sem, p.n, p.Evaluator, program, sample)
}

// Unlimited returns the part without the limit. A limit does not change results, so a run remembers both as one.
func (p limitedPart) Unlimited() Evaluator { return p.Evaluator }

// String names the part.
func (p limitedPart) String() string { return fmt.Sprint(p.Evaluator) }

// within evaluates program with e when a slot is free.
func within(ctx context.Context, sem *semaphore.Weighted, n int, e Evaluator, program string,
	sample int) (Result, error) {
	served := llm.TraceOf(ctx).Queued()
	err := sem.Acquire(ctx, 1)
	served()
	if err != nil {
		return Result{}, fmt.Errorf("eval: waiting for one of %d slots: %w", n, err)
	}
	defer sem.Release(1)
	return EvaluateSample(ctx, e, program, sample)
}
