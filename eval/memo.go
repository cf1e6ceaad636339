package eval

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/memo"
)

// Memo returns an Evaluator that evaluates equal programs once. Programs are equal if their texts are, up to white
// space at the end. It is for deterministic evaluators: if e would score a program differently the second time, Memo
// repeats the first score and the result does not show it. A search in a run needs no Memo, because the run remembers
// all results.
//
// Equal programs that are evaluated at the same time share one evaluation, under the context of the first caller. If
// that context ends, another caller takes over with its own. If e fails, all callers get the error. Memo keeps up to 64
// MiB of results and forgets the oldest first. It does not keep errors.
func Memo(e Evaluator) Evaluator {
	return &remembering{e, memo.New(memoBytes, Result.Size)}
}

const memoBytes = 64 << 20

type remembering struct {
	e     Evaluator
	table *memo.Table[Result]
}

func (m *remembering) Evaluate(ctx context.Context, program string) (Result, error) {
	key := memo.Key(sha256.Sum256([]byte(strings.TrimRight(program, " \t\r\n"))))
	r, err := m.table.Do(ctx, key, func() (Result, error) { return m.e.Evaluate(ctx, program) })
	if err != nil {
		return r, err
	}
	return r.Clone(), nil
}

func (m *remembering) String() string { return fmt.Sprintf("Memo(%v)", m.e) }

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
