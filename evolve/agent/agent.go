// Package agent makes children by sessions, in which a model reads and edits the program with tools, tries it, and
// submits it when it is done. A session is an operator of package population beside rewrites and crossings, or a
// search's only one:
//
//	search, err := population.New(population.Config{Task: t, LLM: model,
//		Operators: []population.Operator{&agent.Loop{}}})
//
// All that a session asks and tries goes through its [evolve.Work]. So it is within the run's budget, in its journal
// and in its result, and is recalled when the run is resumed.
//
// Tries and the submission are a contract, of which the model is told: a try is a look that costs one of
// evolve.Budget.TuneEvaluations and may use cheaper cases (Loop.On), and what is submitted is evaluated once for real.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Loop is an operator whose children are made by sessions of a model with tools. The same answers make the same
// session. It may be shared by searches.
type Loop struct {
	// Shell runs a line of a shell with the program's files at hand, contained, and returns what it printed; nil means
	// that the model has no tool for it. An error ends the run. What it returns is recorded, so a session that is begun
	// again after a kill sees the same. [NewShell] makes one.
	Shell func(ctx context.Context, program, line string) (output string, err error)
	// On scores tries, perhaps on cheaper cases. It should print itself, be comparable, and ask no model. nil means the
	// TuneEvaluator of the task, such as a folder's evaluate_tune, of which a Loop asks a task once, or the task itself if
	// it has none or is one of [task.WithEvaluator]: tries then go where what is submitted goes.
	On eval.Evaluator
	// Text describes the tools in the prompt, and reads calls from blocks of replies, for a model that has no tools of its
	// own.
	Text   bool
	Bounds Bounds
	// Instruction is what the model is asked for beside the task; "" means to raise the score.
	Instruction string

	tuners tuners
}

// Bounds limit a session. At a bound a session ends with the best program that it has tried, or else the one it has. The
// most that a call can cost is held against them before it is sent, as a [evolve.Budget] does, so they are not passed.
type Bounds struct {
	Calls  int           // calls of the model; 0 means 30
	Tokens int           // tokens of prompts and completions; 0 means 400,000
	Time   time.Duration // wall time; 0 means 30 minutes
	Tries  int           // evaluations by tries; 0 means 10, negative none
	Money  float64       // in the currency of Price; 0 means no bound
	Price  *llm.Price    // price of attempts that do not report their cost
	// MaxTokens is the most new tokens of a call, to which what an agent asks for is lowered: the model's own. 0 means
	// [llm.DefaultMaxTokens].
	MaxTokens int
}

func (b Bounds) filled() Bounds {
	b.Calls, b.Tokens = cmp.Or(b.Calls, 30), cmp.Or(b.Tokens, 400_000)
	b.Time, b.Tries = cmp.Or(b.Time, 30*time.Minute), cmp.Or(b.Tries, 10)
	b.MaxTokens = cmp.Or(b.MaxTokens, llm.DefaultMaxTokens)
	return b
}

// validate returns an error that names a field that is wrong.
func (b Bounds) validate() error {
	switch {
	case b.Calls < 0:
		return fmt.Errorf("agent: Bounds.Calls is %d: need 0 for 30, or more", b.Calls)
	case b.Tokens < 0:
		return fmt.Errorf("agent: Bounds.Tokens is %d: need 0 for 400,000, or more", b.Tokens)
	case b.MaxTokens < 0:
		return fmt.Errorf("agent: Bounds.MaxTokens is %d: need 0 for %d, or more", b.MaxTokens, llm.DefaultMaxTokens)
	case b.Time < 0:
		return fmt.Errorf("agent: Bounds.Time is %v: need 0 for 30 minutes, or more", b.Time)
	case !(b.Money >= 0):
		return fmt.Errorf("agent: Bounds.Money is %v: need 0 for no bound, or more", b.Money)
	}
	return nil
}

var _ population.Operator = (*Loop)(nil)

// Name is "agent".
func (l *Loop) Name() string { return "agent" }

// String prints what decides a session but the model.
func (l *Loop) String() string {
	b := l.Bounds.filled()
	return fmt.Sprintf("agent.Loop(calls=%d, tokens=%d, time=%v, tries=%d, money=%v, shell=%v, text=%v, instruction=%q)",
		b.Calls, b.Tokens, b.Time, b.Tries, b.Money, l.Shell != nil, l.Text, l.Instruction)
}

// Brief has the child made by a session on the parent. The model can look at the members of the archive, and at the
// newest invalid programs, as they are now. It is shown the lines of the memories' sections, as the bounds of
// [task.WithBounds] and the hints of [task.WithHints] have them, and no programs of sections.
func (l *Loop) Brief(v *population.View) evolve.Brief {
	b := v.Brief()
	b.Make = l.make(v.Task, v.Parent.Candidate, v.Sections, earlierOf(v))
	return b
}

// Make returns the Make of an [evolve.Brief] whose child is made of parent, for a search of your own. The model is
// shown notes.
func (l *Loop) Make(t task.Task, parent eval.Candidate, notes ...string) (
	make func(ctx context.Context, w *evolve.Work) (program string, err error)) {

	return l.make(t, parent, lessons(notes), nil)
}

func (l *Loop) make(t task.Task, parent eval.Candidate, beside []task.Section, earlier []program) (
	make func(context.Context, *evolve.Work) (string, error)) {

	return func(ctx context.Context, w *evolve.Work) (string, error) {
		bounds, err := newMeter(ctx, l.Bounds, w)
		if err != nil {
			return "", err
		}
		return newSession(l, w, bounds, t, parent, beside, earlier).run(ctx)
	}
}
