package eval

import "context"

// A Mode says what an evaluation is for.
type Mode int

// The modes.
const (
	// Submit is for the score that stands for the program. It counts in evolve.Budget.Evaluations.
	Submit Mode = iota
	// Tune is for a look on the way to a program: an agent's try, a tuner's value. It counts in
	// evolve.Budget.TuneEvaluations alone, and may use cheaper cases: fewer inputs, a shorter run. No score of it is
	// claimed of a program.
	Tune
)

// String returns "submit" or "tune".
func (m Mode) String() string {
	if m == Tune {
		return "tune"
	}
	return "submit"
}

// modeKey is the context's key for the Mode.
type modeKey struct{}

// WithMode returns ctx for an evaluation in a mode. It reaches an [Evaluator] through all that wrap it, but for other
// machines (package eval/nats), where every evaluation is a Submit.
func WithMode(ctx context.Context, m Mode) context.Context {
	return context.WithValue(ctx, modeKey{}, m)
}

// ModeOf returns the mode of an evaluation. An [Evaluator] that has cheaper cases asks for it. It is Submit unless
// [WithMode] said otherwise.
func ModeOf(ctx context.Context) Mode {
	m, _ := ctx.Value(modeKey{}).(Mode)
	return m
}
