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
// that have them take more than 64 MiB. If the run has a journal, a result with its artifacts is read from there. So no
// program is evaluated again because the memory is full, and a run makes as many evaluations with a journal as without.
//
// It belongs to the run and not to a search, because the arms of a run work on one task and models repeat
// themselves: in some runs more than half of the programs are equal to an earlier one. With a memory for each
// arm such a program would be evaluated once an arm.
//
// It is safe for concurrent use. [NewPrograms] makes it.
type Programs struct {
	table *memo.Table[Result]

	mu    sync.Mutex
	names map[any]string // how keys tell evaluators apart, by identity
	alike map[string]int // how many print alike
	count int            // of evaluations that cannot be remembered
}

// room is for results with artifacts. Such a result can have 256 KiB, so the room is in bytes and not
// in programs. What stays of a result without its artifacts is as much as the result of the run keeps of a child.
const room = 64 << 20

// NewPrograms returns a memory of nothing.
func NewPrograms() *Programs {
	table := memo.New(room, func(v Result) int { return v.Result.Size() })
	table.Keep = Result.withoutArtifacts
	return &Programs{table: table, names: make(map[any]string), alike: make(map[string]int)}
}

// A Result is the result of an evaluation, with what it asked and how long it took.
type Result struct {
	eval.Result
	Asked *Asked        // nil if it asked no model
	Took  time.Duration // as Budget.EvalTime counts it
	Cut   bool          // its artifacts are forgotten
}

// withoutArtifacts returns what the memory keeps of a Result for good.
func (v Result) withoutArtifacts() Result {
	v.Cut, v.Artifacts = len(v.Artifacts) > 0, nil
	return v
}

// An Evaluation is one that brought a result, made or remembered.
type Evaluation struct {
	Key   record.Key
	Of    record.Key    // that a journal names it by: Key, unless it cannot be remembered
	Asked *Asked        // nil if it asked no model
	Took  time.Duration // as Budget.EvalTime counts it
	Tuned bool          // it was made for a tuner
}

// Do returns the Result for key: the one remembered, or what compute returns. Callers that ask for one key at the same
// time share one computation.
func (p *Programs) Do(ctx context.Context, key record.Key, compute func() (Result, error)) (Result, error) {
	return p.table.Do(ctx, memo.Key(key), compute)
}

// space is the white space by which two equal programs may differ at their ends.
const space = " \t\r\n"

// Trim returns what tells a program from others: its text without white space at its end.
func Trim(program string) string { return strings.TrimRight(program, space) }

// Name returns a name that tells evaluators apart. In this process they are told apart by identity. In the
// journal they are told apart by how they print, and those that print alike by the order in which they were
// first asked. A part of a composite behind an [eval.Limit] is the part itself, and evaluators that say of what they
// are are one if that is the same. It reports false for an evaluator that cannot be compared, such as a func: its
// results cannot be remembered.
func (p *Programs) Name(e eval.Evaluator) (name string, known bool) {
	for l, ok := e.(limited); ok; l, ok = e.(limited) {
		e = l.Unlimited()
	}
	name = printed(e)
	var identity any = e
	if i, ok := e.(identified); ok {
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

// An identified evaluator says what tells it from others, for one that is made anew for the same thing.
type identified interface{ Identity() any }

// A limited is an evaluator behind a limit, with the results that it has without.
type limited interface{ Unlimited() eval.Evaluator }

// printed returns the name of an evaluator in a journal: a task's name, or what the String method of another
// evaluator returns, or its type. It never prints a struct's fields. They may hold addresses, which differ from
// process to process, and a resumed run would find none of its evaluations.
func printed(e eval.Evaluator) string {
	switch e := e.(type) {
	case task.Task:
		return e.Name()
	case fmt.Stringer:
		return e.String()
	}
	return fmt.Sprintf("%T", e)
}

// Unique returns a key for an evaluation that cannot be remembered, so that each counts.
func (p *Programs) Unique(key record.Key) record.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return record.KeyOf(hex.EncodeToString(key[:]), fmt.Sprint(p.count))
}
