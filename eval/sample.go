package eval

import "context"

// A Sampler is an [Evaluator] that needs the number of the independent evaluation that is asked for, because it stores
// results by that number: for other runs, say. A run calls EvaluateSample instead of Evaluate. A type that embeds an
// Evaluator or a task must pass the number on, as the function [EvaluateSample] does, or every sample is sample 0.
type Sampler interface {
	Evaluator
	// EvaluateSample makes the sample-th independent evaluation of program, from 0. Evaluate makes that of sample 0.
	EvaluateSample(ctx context.Context, program string, sample int) (Result, error)
}

// EvaluateSample makes the sample-th independent evaluation of program with e. Only a [Sampler] gets the number.
func EvaluateSample(ctx context.Context, e Evaluator, program string, sample int) (Result, error) {
	if s, ok := e.(Sampler); ok {
		return s.EvaluateSample(ctx, program, sample)
	}
	return e.Evaluate(ctx, program)
}
