// Package eval defines how a program is scored, and what all ways of scoring share.
//
// Every candidate is presumed hostile. The safe way is a [Runner] under [Scored]: the runner executes the program apart
// from this process's state and returns the program's output as data. The score is computed here, where the program
// cannot reach it.
package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// An Evaluator scores programs. Implementations are safe for concurrent use.
type Evaluator interface {
	// Evaluate scores program. A bad program is a Result with Valid false and a Reason. An error means that evaluation
	// itself failed. An error ends a run, so no program may be able to cause one.
	Evaluate(ctx context.Context, program string) (Result, error)
}

// Func makes an Evaluator of a function.
type Func func(ctx context.Context, program string) (Result, error)

var _ Evaluator = Func(nil)

// Evaluate calls f.
func (f Func) Evaluate(ctx context.Context, program string) (Result, error) { return f(ctx, program) }

// String returns "eval.Func" for every f, so a journal cannot tell two functions apart.
func (f Func) String() string { return "eval.Func" }

// A Result is the result of evaluating one program.
type Result struct {
	Score     float64            `json:"score"`               // higher is better; finite; 0 if not Valid
	Valid     bool               `json:"valid"`               // whether the program did what was asked of it
	Reason    string             `json:"reason,omitempty"`    // why not Valid
	Metrics   map[string]float64 `json:"metrics,omitempty"`   // finite, of the evaluator's choosing, by name
	Artifacts map[string]string  `json:"artifacts,omitempty"` // text for the model or for people
	// Cases holds the score of each instance if the evaluator has several; higher is better. All programs have the same
	// order of instances. It is for searches that select by instance, while Score stays the objective.
	Cases []float64 `json:"cases,omitempty"`
	// Samples holds the number and spread of the evaluations that Score is the mean of; nil for one evaluation. See
	// [Pool].
	Samples *Samples `json:"samples,omitempty"`
}

// Invalid returns the result of a bad program. The reason is formatted as by [fmt.Sprintf].
func Invalid(format string, args ...any) Result {
	return Result{Reason: fmt.Sprintf(format, args...)}
}

// Clean returns r in the form in which it is stored. A score that is not finite makes r invalid, because JSON cannot
// hold it. An invalid result has score 0 and a reason in one line that is fit for a terminal. Metrics that are not
// finite are left out. A case that is not finite makes r invalid too: cases are identified by position, so none can be
// left out.
//
// Clean cuts what is too large for a journal: a reason after [MaxReason] bytes, an artifact in the middle to
// [MaxArtifact] bytes. It keeps the first [MaxMetrics] metrics by name, the first [maxArtifacts] artifacts that fit
// into [MaxArtifactBytes], names of at most [MaxName] bytes, and the first [MaxCases] cases and scores of Samples.
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

// A Candidate is a program and its result.
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

// A Runner runs a program's entry point apart from this process's state and returns its return value as JSON. The error
// is a [*ProgramError] if the program is at fault, and otherwise the runner's. Implementations are safe for concurrent
// use.
type Runner interface {
	Run(ctx context.Context, program, entry string) (json.RawMessage, error)
}

// A ProgramError is a program's own fault: it did not parse, threw, ran too long, used too much memory, or returned
// something that is not data.
type ProgramError struct {
	Reason    string            // in one line, for people and for the model: "ran longer than 5s"
	Artifacts map[string]string // the program's output, a traceback
}

// Error returns the reason.
func (e *ProgramError) Error() string { return e.Reason }

// Size returns the approximate bytes that r takes in memory.
func (r Result) Size() int {
	n := 256 + len(r.Reason) + 8*len(r.Cases)
	if r.Samples != nil {
		n += 64 + 8*len(r.Samples.Scores)
	}
	for k := range r.Metrics {
		n += 64 + len(k)
	}
	for k, v := range r.Artifacts {
		n += 64 + len(k) + len(v)
	}
	return n
}

// Clone returns a copy of r that shares nothing with it.
func (r Result) Clone() Result {
	r.Metrics, r.Artifacts, r.Cases = maps.Clone(r.Metrics), maps.Clone(r.Artifacts), slices.Clone(r.Cases)
	r.Samples = r.Samples.clone()
	return r
}
