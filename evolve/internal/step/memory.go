package step

import (
	"context"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/task"
)

// Programs is a run's memory of what programs scored. It forgets artifacts alone, the oldest first, when the results
// that have them take more than 64 MiB: one can have 256 KiB. If the run has a journal, a result with its artifacts
// is read from there. So no program is evaluated again because the memory is full, and a run makes as many
// evaluations with a journal as without.
//
// It belongs to the run and not to a search, because the arms of a run work on one task and models repeat themselves:
// in some runs more than half of the programs are equal to an earlier one. With a memory for each arm such a program
// would be evaluated once an arm. It is safe for concurrent use.
type Programs struct {
	table *memo.Table[Result]

	mu    sync.Mutex
	names map[any]string // how keys tell evaluators apart, by identity
	alike map[string]int // how many print alike
	count int            // of evaluations that cannot be remembered
}

// NewPrograms returns a memory of nothing.
func NewPrograms() *Programs {
	table := memo.New(64<<20, func(v Result) int { return v.Result.Size() })
	table.Keep = func(v Result) Result {
		v.Cut, v.Artifacts = len(v.Artifacts) > 0, nil
		return v
	}
	return &Programs{table: table, names: make(map[any]string), alike: make(map[string]int)}
}

// A Result is the result of an evaluation, with what it asked and how long it took.
type Result struct {
	eval.Result
	Asked *Asked        // nil if it asked no model
	Took  time.Duration // as Budget.EvalTime counts it
	Cut   bool          // its artifacts are forgotten
}

// An Evaluation is one that brought a result, made or remembered.
type Evaluation struct {
	Key   record.Key
	Of    record.Key    // that a journal names it by: Key, unless it cannot be remembered
	Asked *Asked        // nil if it asked no model
	Took  time.Duration // as Budget.EvalTime counts it
	Tuned bool          // it was made for a tuner
}

// Do returns the Result for key: the one remembered, or what compute returns. Callers that ask for one key at the
// same time share one computation.
func (p *Programs) Do(ctx context.Context, key record.Key, compute func() (Result, error)) (Result, error) {
	return p.table.Do(ctx, memo.Key(key), compute)
}

// Trim returns what tells a program from others: its text without white space at its end.
func Trim(program string) string { return strings.TrimRight(program, " \t\r\n") }

// Name returns a name that tells evaluators apart. In this process they are told apart by identity. In the journal
// they are told apart by how they print, and those that print alike by the order in which they were first asked. A
// part of a composite behind an [eval.Limit] is the part itself, and evaluators that say of what they are are one if
// that is the same. It reports false for an evaluator that cannot be compared, such as a func: its results cannot be
// remembered.
func (p *Programs) Name(e eval.Evaluator) (name string, known bool) {
	for l, ok := e.(interface{ Unlimited() eval.Evaluator }); ok; l, ok = e.(interface{ Unlimited() eval.Evaluator }) {
		e = l.Unlimited()
	}
	// A struct's fields are never printed. They may hold addresses, which differ from process to process, and a
	// resumed run would find none of its evaluations.
	switch e := e.(type) {
	case task.Task:
		name = e.Name()
	case fmt.Stringer:
		name = e.String()
	default:
		name = fmt.Sprintf("%T", e)
	}
	var identity any = e
	if i, ok := e.(interface{ Identity() any }); ok {
		identity = i.Identity()
	}
	if !reflect.ValueOf(identity).Comparable() {
		return name, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, ok := p.names[identity]; ok {
		return n, true
	}
	n := p.alike[name]
	p.alike[name]++
	if n > 0 {
		name = fmt.Sprintf("%s#%d", name, n)
	}
	p.names[identity] = name
	return name, true
}

// Unique returns a key for an evaluation that cannot be remembered, so that each counts.
func (p *Programs) Unique(key record.Key) record.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return record.KeyOf(hex.EncodeToString(key[:]), fmt.Sprint(p.count))
}
