// Package landscape has small landscapes whose true scores are known, and the stand-in for a language model that edits
// their programs. evolve/compare offers them to users, and the laboratory of examples studies noise on them.
package landscape

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Family is a kind of landscape. Each seed is another landscape of the kind.
type Family struct {
	Name string
	// Make returns the problem of a seed. It is called from several goroutines at once, and each call returns a problem
	// of its own.
	Make func(seed uint64) (Problem, error)
}

// A Problem is what a search has to solve, and what it never sees.
type Problem struct {
	Task  task.Task
	LLM   llm.LLM
	Noisy bool // the task may score the same program differently
	// True is the score that searches are compared by: without noise, on held-out cases where there are any. It is 0 for
	// a program that is not valid. No search is given it.
	True func(program string) float64
}

// Families returns all families, the same in each call but for what their seeds make.
func Families() []Family {
	return []Family{
		family("additive", additive), family("traps", traps), family("hiff", hiff), family("tuned", tuned),
		family("geometry", points), family("few", few), family("regress", regress), family("noisy", noisy),
		family("held-out", heldOut), family("layered", layered), family("notes", notes),
	}
}

// WithLaw returns three families with noise of a law on every evaluation: words as in noisy, lines as in traps, and
// points as in geometry. The noise's standard deviation is level typical gains. A typical gain is the mean gain in true
// score of a child that is better than its parent, in greedy search without noise: 0.043, 0.017 and 0.013. It panics
// unless level is 0 or more. "words-0.5" is the name of the first at half a gain with normal noise, and "words-t3-1"
// with another law. With 0 searches are still told that scores are noisy.
func WithLaw(law Law, level float64) []Family {
	if !(level >= 0) {
		panic(fmt.Sprintf("landscape: WithLaw(%v): need 0 or more", level))
	}
	noisy := func(kind string, gain float64, build func(r *rand.Rand) landscape) Family {
		name := fmt.Sprintf("%s-%v", kind, level)
		if law != Normal {
			name = fmt.Sprintf("%s-%s-%v", kind, law, level)
		}
		return Family{name, func(seed uint64) (Problem, error) {
			l := build(stream.New(seed, "landscape "+kind, 0)) // the same at each level
			l.noisy, l.noise, l.law = true, level*gain, law
			return l.problem(name, seed)
		}}
	}
	return []Family{noisy("words", gains[0], words), noisy("traps", gains[1], traps), noisy("points", gains[2], points)}
}

// gains are the typical gains of words, traps and points.
var gains = [3]float64{0.043, 0.017, 0.013}

// Medians returns by how much the median evaluation of a program is above its true score, for each family of [WithLaw].
func Medians(law Law, level float64) [3]float64 {
	m := level * law.median()
	return [3]float64{m * gains[0], m * gains[1], m * gains[2]}
}

// able is what the model of every family can do, unless its family says otherwise.
func able(words int) Model {
	return Model{Words: words, Bold: 1, Splice: 1, Borrow: 0.2, Broken: 0.02, Long: 0.1}
}

// A landscape is a problem in the making.
type landscape struct {
	initial sheet
	judge   func(s sheet) eval.Result // of a sheet in the form of initial; its score is without noise
	truth   func(s sheet) float64     // nil: judge's score
	noisy   bool                      // an evaluation may differ from another although noise is 0
	noise   float64                   // the standard deviation of what is added to each evaluation's score
	law     Law                       // of the noise; "" is Normal
	model   Model
}

// family returns the Family of what build returns. build draws all that differs between seeds from r.
func family(name string, build func(r *rand.Rand) landscape) Family {
	return Family{name, func(seed uint64) (Problem, error) {
		return build(stream.New(seed, "landscape "+name, 0)).problem(name, seed)
	}}
}

func (l landscape) problem(name string, seed uint64) (Problem, error) {
	s := &scorer{landscape: l, seed: seed}
	t, err := task.New(task.Spec{Name: name, Initial: l.initial.String(), Evaluator: s})
	if err != nil {
		return Problem{}, fmt.Errorf("landscape: family %s: %w", name, err)
	}
	l.model.Signed = l.noisy || l.noise > 0
	return Problem{Task: t, LLM: l.model, Noisy: l.model.Signed, True: s.true}, nil
}

// A scorer is the evaluator of a landscape.
type scorer struct {
	landscape
	seed uint64
}

var _ eval.Sampler = (*scorer)(nil)

// String returns "scorer": the task's name tells landscapes apart.
func (s *scorer) String() string { return "scorer" }

// Evaluate scores a program.
func (s *scorer) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return s.EvaluateSample(ctx, program, 0)
}

// EvaluateSample scores a program with the noise of a sample. It does not depend on what else was evaluated before, so
// runs repeat where two evaluations of one program are under way at once.
func (s *scorer) EvaluateSample(_ context.Context, program string, sample int) (eval.Result, error) {
	sheet := read(program)
	if form := sheet.unlike(s.initial); !form.Valid {
		return form, nil
	}
	r := s.judge(sheet)
	if s.noise > 0 {
		r.Score += s.noise * s.law.draw(stream.New(s.seed, "noise "+program, uint64(sample)))
	}
	return r, nil
}

// true returns the true score of a program.
func (s *scorer) true(program string) float64 {
	sheet := read(program)
	if !sheet.unlike(s.initial).Valid {
		return 0
	}
	if s.truth != nil {
		return s.truth(sheet)
	}
	return s.judge(sheet).Score
}

// scored is a func of the score alone as a judge.
func scored(f func(s sheet) float64) func(sheet) eval.Result {
	return func(s sheet) eval.Result { return eval.Result{Score: f(s), Valid: true} }
}

// byCase returns the result of cases: their mean, and each one.
func byCase(cases []float64) eval.Result {
	sum := 0.0
	for _, c := range cases {
		sum += c
	}
	return eval.Result{Score: sum / float64(len(cases)), Valid: true, Cases: cases}
}
