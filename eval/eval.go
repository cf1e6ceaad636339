// Package eval defines how a program is scored, and holds what every way of scoring shares.
//
// A candidate is hostile until shown otherwise. The safe way is a [Runner] under [Scored]: the
// runner executes the program apart from this process's state and returns what the program
// returned, as data. The score is computed here, where the program cannot reach it.
package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// An Evaluator scores programs. Implementations are safe for concurrent use.
type Evaluator interface {
	// Evaluate scores program. A bad program is a Result with Valid false and a Reason. An error means
	// that evaluation itself failed. It ends a run, so no program may be able to cause one.
	Evaluate(ctx context.Context, program string) (Result, error)
}

// Func makes an Evaluator of a function.
type Func func(ctx context.Context, program string) (Result, error)

var _ Evaluator = Func(nil)

// Evaluate calls f.
func (f Func) Evaluate(ctx context.Context, program string) (Result, error) { return f(ctx, program) }

// String returns "eval.Func" for every f, as what a function does cannot be printed. A journal cannot
// tell two of them apart.
func (f Func) String() string { return "eval.Func" }

// A Result is what evaluation found out about one program.
type Result struct {
	Score     float64            `json:"score"`               // higher is better; finite; 0 if not Valid
	Valid     bool               `json:"valid"`               // whether the program did what was asked of it
	Reason    string             `json:"reason,omitempty"`    // why not Valid
	Metrics   map[string]float64 `json:"metrics,omitempty"`   // finite, of the evaluator's choosing, by name
	Artifacts map[string]string  `json:"artifacts,omitempty"` // text for the model or for people
	// Cases has the score of each instance of an evaluator with many, higher is better, in an order that is the same
	// for every program. It is for searches that select by instance. Score stays what the search is after.
	Cases []float64 `json:"cases,omitempty"`
	// Samples says of how many evaluations Score is the mean, and how they spread; nil for one evaluation. See [Pool].
	Samples *Samples `json:"samples,omitempty"`
}

// Invalid returns the result of a bad program. The reason is formatted as by [fmt.Sprintf].
func Invalid(format string, args ...any) Result {
	return Result{Reason: fmt.Sprintf(format, args...)}
}

// Clean returns r in the form in which it is kept. A score that is not finite makes it invalid, because JSON
// cannot hold one. An invalid result has score 0 and a reason in one line that is fit for a terminal. Metrics
// that are not finite are left out. A case that is not finite makes the result invalid as a score does, because
// cases are told apart by their place and none can be left out.
//
// What is larger than a journal should keep is cut. A reason is cut after [MaxReason] bytes, and an artifact in
// the middle to [MaxArtifact] bytes. The first [MaxMetrics] metrics by name are kept, and the first
// [MaxArtifacts] artifacts that fit into [MaxArtifactBytes]. A name has at most [MaxName] bytes. The first
// [MaxCases] cases are kept, and as many scores of Samples.
func (r Result) Clean() Result {
	if r.Valid && notFinite(r.Score) {
		r.Valid, r.Reason = false, fmt.Sprintf("score is %v, not a finite number", r.Score)
	}
	if i := slices.IndexFunc(r.Cases, notFinite); i >= 0 {
		if r.Valid {
			r.Valid, r.Reason = false, fmt.Sprintf("case %d is %v, not a finite number", i, r.Cases[i])
		}
		r.Cases = nil
	}
	r.Cases = boundedCases(r.Cases)
	r.Reason = boundedReason(r.Reason)
	r.Samples = r.Samples.clean()
	if !r.Valid {
		r.Score, r.Samples = 0, nil
		if r.Reason == "" {
			r.Reason = "invalid, for no stated reason"
		}
	}
	r.Metrics, r.Artifacts = boundedMetrics(r.Metrics), boundedArtifacts(r.Artifacts)
	return r
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// A Candidate is a program and what evaluation found out about it.
type Candidate struct {
	Program string `json:"program"` // its text
	Result  Result `json:"result"`  // what it scored
}

// Better reports whether c is strictly better than d: a valid program is better than an invalid
// one, and of two valid ones the higher score is better.
func (c Candidate) Better(d Candidate) bool {
	if c.Result.Valid != d.Result.Valid {
		return c.Result.Valid
	}
	return c.Result.Valid && c.Result.Score > d.Result.Score
}

// A Runner runs a program's entry point apart from this process's state and returns what it
// returned, as JSON. The error is a [*ProgramError] if the program is at fault. Any other error is the runner's.
// Implementations are safe for concurrent use.
type Runner interface {
	Run(ctx context.Context, program, entry string) (json.RawMessage, error)
}

// A ProgramError says what a program did wrong: it did not parse, threw, ran too long, used too
// much memory, returned something that is not data.
type ProgramError struct {
	Reason    string            // in one line, for people and for the model: "ran longer than 5s"
	Artifacts map[string]string // what it printed, a traceback
}

// Error returns the reason.
func (e *ProgramError) Error() string { return e.Reason }
