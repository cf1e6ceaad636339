package timing

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// An evaluator times programs; see [Machine.Evaluator].
type evaluator struct {
	machine  *Machine
	cfg      Config
	baseline Image
}

var _ eval.Evaluator = (*evaluator)(nil)

// String describes the evaluator for people and journals.
func (e *evaluator) String() string {
	text := fmt.Sprintf("timing.Evaluator(%d pairs, %d warm-ups", e.cfg.Pairs, e.cfg.WarmUps)
	if e.cfg.Clock == Elapsed {
		text += ", time that passed"
	}
	if e.cfg.Cores > 1 {
		text += fmt.Sprintf(", %d processors", e.cfg.Cores)
	}
	return text + ")"
}

// Evaluate times program beside the baseline. After a failure that the machine may have caused, Evaluate tries once
// more.
func (e *evaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	image, err := e.cfg.Build(ctx, program)
	if err != nil {
		return blame(err, fmt.Errorf("timing: building a candidate: %w", err))
	}
	all, err := e.once(ctx, image)
	if _, again := errors.AsType[*hiccup](err); again {
		all, err = e.once(ctx, image)
	}
	if err != nil {
		return blame(err, err)
	}
	return all.result(e.cfg).Clean(), nil
}

// once times a candidate beside a baseline, both started anew.
func (e *evaluator) once(ctx context.Context, image Image) (times, error) {
	baseline, err := e.start(ctx, e.baseline)
	if err != nil {
		return nil, notBlamed(err)
	}
	all, err := e.beside(ctx, baseline, image)
	if closed := baseline.close(); closed != nil {
		return nil, failed(err, closed)
	}
	return all, err
}

// beside times a candidate beside a baseline that has been started.
func (e *evaluator) beside(ctx context.Context, baseline *side, image Image) (times, error) {
	candidate, err := e.start(ctx, image)
	if err != nil {
		return nil, err
	}
	all, err := e.play(ctx, baseline, candidate)
	err = candidate.explain(err)
	if closed := candidate.close(); closed != nil {
		return nil, failed(err, closed)
	}
	return all, err
}

// failed returns the error of an evaluation that could not be closed. The error mentions the program's fault, but does
// not count as one.
func failed(err, closed error) error {
	if err == nil {
		return closed
	}
	return fmt.Errorf("timing: %w (after: %v)", closed, err)
}

// blame returns the result of a program that is at fault, or an error otherwise.
func blame(err, otherwise error) (eval.Result, error) {
	if bad, ok := errors.AsType[*eval.ProgramError](err); ok {
		return eval.Result{Reason: bad.Reason, Artifacts: bad.Artifacts}.Clean(), nil
	}
	return eval.Result{}, otherwise
}

// notBlamed turns the baseline's fault into an error of the evaluation, for which no candidate is to blame.
func notBlamed(err error) error {
	bad, ok := errors.AsType[*eval.ProgramError](err)
	if !ok {
		return err
	}
	own := fmt.Errorf("timing: the baseline %s %s", bad.Reason, bad.Artifacts["stderr"])
	if _, ok := errors.AsType[*hiccup](err); ok {
		return &hiccup{own}
	}
	return own
}

// try builds the baseline and calls it once on each kind of input.
func (e *evaluator) try(ctx context.Context) (err error) {
	if e.baseline, err = e.cfg.Build(ctx, e.cfg.Baseline); err != nil {
		return fmt.Errorf("timing: building the baseline: %w", err)
	}
	s, err := e.start(ctx, e.baseline)
	if err != nil {
		return notBlamed(err)
	}
	r := fresh()
	for _, in := range append(e.cfg.Others(r), e.cfg.Input(r)) {
		if err == nil {
			_, err = e.call(ctx, s, nil, in)
		}
	}
	return errors.Join(notBlamed(s.explain(err)), s.close())
}

// fresh returns an unpredictable generator.
func fresh() *rand.Rand {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // which never fails
	return rand.New(rand.NewChaCha8(seed))
}

// A round is one input for both sides.
type round struct {
	in    []byte // one of Others, which may be nil
	drawn bool   // whether the input is drawn at its turn
	timed bool
}

// rounds returns the warm-ups, and then the timed rounds interspersed with others.
func (e *evaluator) rounds(r *rand.Rand) []round {
	rest := make([]round, 0, e.cfg.Pairs)
	for range e.cfg.Pairs {
		rest = append(rest, round{drawn: true, timed: true})
	}
	for _, in := range e.cfg.Others(r) {
		rest = append(rest, round{in: in})
	}
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(slices.Repeat([]round{{drawn: true}}, e.cfg.WarmUps), rest...)
}

// play calls both sides in turn. The seed of the inputs is drawn only now that the candidate is loaded.
func (e *evaluator) play(ctx context.Context, baseline, candidate *side) (times, error) {
	r := fresh()
	var all times
	for _, round := range e.rounds(r) {
		if round.drawn {
			round.in = e.cfg.Input(r)
		}
		p, err := e.pair(ctx, baseline, candidate, round.in, r.IntN(2) == 0)
		if err != nil {
			return all, err
		}
		if round.timed {
			all = append(all, p)
		}
	}
	for again := 0; again < e.cfg.Pairs && all.disturbed(e.cfg) > again; again++ {
		p, err := e.pair(ctx, baseline, candidate, e.cfg.Input(r), r.IntN(2) == 0)
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all.calmest(e.cfg), nil
}

// cpus returns the processors for both sides.
func (e *evaluator) cpus() []int {
	return e.machine.cpus[:min(e.cfg.Cores, len(e.machine.cpus))]
}

// pair calls both sides with an input, in either order, and compares their answers while both are stopped.
func (e *evaluator) pair(ctx context.Context, baseline, candidate *side, in []byte, first bool) (p pair, err error) {
	if first {
		p.candidate, err = e.call(ctx, candidate, baseline, in)
	}
	if err == nil {
		if p.baseline, err = e.call(ctx, baseline, nil, in); err != nil {
			return p, notBlamed(baseline.explain(err))
		}
	}
	if err == nil && !first {
		p.candidate, err = e.call(ctx, candidate, baseline, in)
	}
	if err != nil {
		return p, err
	}
	if wrong := e.cfg.Check(in, baseline.copied(), candidate.copied()); wrong != nil {
		return p, fault("answered wrongly: %v", wrong)
	}
	return p, errors.Join(notBlamed(baseline.settle(&p.baseline)), candidate.settle(&p.candidate))
}

// call calls one side, and then checks that its input is unchanged. beside is the baseline of a candidate, and nil for
// the baseline.
func (e *evaluator) call(ctx context.Context, s, beside *side, in []byte) (duration, error) {
	out := e.cfg.Output(in)
	if len(in) > e.cfg.Bytes || out < 0 || out > e.cfg.Bytes {
		return duration{}, fmt.Errorf("timing: an input has %d bytes and its output %d: Config.Bytes allows %d",
			len(in), out, e.cfg.Bytes)
	}
	limit, total := e.cfg.Timeout, e.total(beside)
	took, err := s.call(ctx, in, out, min(limit, max(total-s.called, time.Millisecond)))
	if err != nil && ctx.Err() == nil && s.called >= total {
		err = fault("took longer than %v for all of its calls", total.Round(time.Millisecond))
	}
	if err == nil && !bytes.Equal(s.input(), in) {
		err = fault("changed its input")
	}
	return took, err
}

// total returns the time limit for all calls of a candidate. beside is the baseline, and nil for the baseline itself.
func (e *evaluator) total(beside *side) time.Duration {
	switch {
	case beside == nil:
		return math.MaxInt64
	case e.cfg.Total > 0:
		return e.cfg.Total
	}
	return e.cfg.Timeout + 20*beside.called
}

// A hiccup is a fault that may be the machine's: one that lacks memory kills good programs too, and a busy one does not
// stop them in time.
type hiccup struct{ error }

// Unwrap returns the fault.
func (h *hiccup) Unwrap() error { return h.error }

// perhaps returns a fault that may be the machine's.
func perhaps(format string, args ...any) error { return &hiccup{fault(format, args...)} }

// fault returns the error of a program at fault.
func fault(format string, args ...any) error {
	return &eval.ProgramError{Reason: fmt.Sprintf(format, args...)}
}
