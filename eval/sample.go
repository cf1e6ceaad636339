package eval

import "context"

// A Sampler is an [Evaluator] that has to know which of several independent evaluations of a program is asked for,
// because it keeps results by it: one that others share, say. A run asks it so in place of Evaluate. What wraps an Evaluator
// or a task and embeds it has to pass the number on, as [EvaluateSample] does, or every sample is sample 0.
type Sampler interface {
	Evaluator
	// EvaluateSample makes the sample-th independent evaluation of program, from 0. Evaluate makes that of sample 0.
	EvaluateSample(ctx context.Context, program string, sample int) (Result, error)
}

// EvaluateSample makes the sample-th independent evaluation of program with e. Only a [Sampler] is told which it is.
func EvaluateSample(ctx context.Context, e Evaluator, program string, sample int) (Result, error) {
	if s, ok := e.(Sampler); ok {
		return s.EvaluateSample(ctx, program, sample)
	}
	return e.Evaluate(ctx, program)
}
