package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Scored is an Evaluator that runs entry and scores its output here, where the program cannot reach. A [*ProgramError]
// from r becomes an invalid result with its reason and artifacts. score must not trust the program's output.
func Scored(r Runner, entry string, score func(json.RawMessage) Result) Evaluator {
	return &scored{r, entry, score}
}

type scored struct {
	r     Runner
	entry string
	score func(json.RawMessage) Result
}

func (s *scored) Evaluate(ctx context.Context, program string) (Result, error) {
	out, err := s.r.Run(ctx, program, s.entry)
	var bad *ProgramError
	switch {
	case errors.As(err, &bad):
		return Result{Reason: bad.Reason, Artifacts: bad.Artifacts}.Clean(), nil
	case err != nil:
		return Result{}, fmt.Errorf("eval: running %s: %w", s.entry, err)
	}
	return s.score(out).Clean(), nil
}

func (s *scored) String() string { return fmt.Sprintf("Scored(%v, %q)", s.r, s.entry) }
