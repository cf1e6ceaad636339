// Package packing is online bin packing as a task: find the rule that puts items into bins as they arrive.
//
// Each item must be put into a bin before the next is known. A program is a function priority(item, room), and each
// item goes where the priority is highest: into an open bin with that much room, or into a new one. The items follow a
// Weibull distribution (shape 3, scale 45) and a bin holds 100, as in "Mathematical discoveries from program search
// with large language models" (Romera-Paredes et al., Nature 625, 2024), whose function sees all bins at once. Seeing
// one bin at a time makes a program's rule a table of 5050 numbers. A program only returns this table, and Go packs by
// it. So a program cannot see the items, let alone future ones, and cannot change the count.
//
// Scores are on training instances. [task.HeldOut] scores a program on others, which no search sees.
package packing

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// Key is the name of the task, short and fit for a path.
const Key = "packing"

// A Problem is a task without the way to run programs. [Weibull] returns the standard one.
type Problem struct {
	Train []Instance // what a program is scored on
	Test  []Instance // what [task.HeldOut] scores it on
}

// The sizes of [Weibull]'s sets: instances of each kind, and items of an instance.
const (
	instances = 5
	items     = 5000
)

// Weibull returns the standard problem: five instances of 5000 items to train on, and as many held out.
func Weibull() Problem {
	var p Problem
	for i := range uint64(instances) {
		p.Train = append(p.Train, newInstance(i, items))
		p.Test = append(p.Test, newInstance(1000+i, items))
	}
	return p
}

// Task returns p as a task whose programs are in language, "javascript" or "python", and run by r. The task starts from
// first fit, and [task.HeldOut] scores its programs on the held-out instances. It fails in another language, and if p
// has no instances of a kind or one is wrong.
//
// The score is 1 / (1 + excess), where excess is the mean over the instances of (bins used − L1) / L1, and L1 is
// the lower bound ⌈Σ items / 100⌉ of Martello and Toth (1990). So 1 is as good as the bound, which nothing passes.
// Result.Cases has the same of each instance by itself.
// The metrics are excess; bins, the sum over the instances; and best_fit_excess and first_fit_excess to compare.
func (p Problem) Task(r eval.Runner, language string) (task.Task, error) {
	initial, ok := initials()[language]
	if !ok {
		return nil, fmt.Errorf("packing: no program in %q: have %s",
			language, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
	}
	train, err := newScorer(p.Train)
	if err != nil {
		return nil, fmt.Errorf("packing: Problem.Train: %w", err)
	}
	test, err := newScorer(p.Test)
	if err != nil {
		return nil, fmt.Errorf("packing: Problem.Test: %w", err)
	}
	t, err := task.New(task.Spec{
		Name:      Key,
		Language:  language,
		System:    train.system() + "\n\n" + rules[language],
		Initial:   initial,
		Evaluator: eval.Scored(tabulating{r, language}, entry, train.score),
	})
	if err != nil {
		return nil, err
	}
	return withHeldOut{t, eval.Scored(tabulating{r, language}, entry, test.score)}, nil
}

// withHeldOut is a task with instances that are kept from the search.
type withHeldOut struct {
	task.Task
	test eval.Evaluator
}

// Unwrap returns the task without held-out instances, whose optional methods apply.
func (t withHeldOut) Unwrap() task.Task { return t.Task }

// HeldOut scores program on the held-out instances.
func (t withHeldOut) HeldOut(ctx context.Context, program string) (eval.Result, error) {
	return t.test.Evaluate(ctx, program)
}

func (t withHeldOut) String() string { return fmt.Sprint(t.Task) }

// A scorer scores tables on instances. It is safe for concurrent use.
type scorer struct {
	on                []Instance
	firstFit, bestFit float64
}

func newScorer(on []Instance) (*scorer, error) {
	if len(on) == 0 {
		return nil, errors.New("no instances")
	}
	for i, items := range on {
		if err := items.check(); err != nil {
			return nil, fmt.Errorf("instance %d: %w", i, err)
		}
	}
	s := &scorer{on: on}
	s.firstFit, _, _ = s.pack(Instance.firstFit)
	s.bestFit, _, _ = s.pack(Instance.bestFit)
	return s, nil
}

// pack packs the instances by rule. It returns the mean excess, the score of each instance by itself, and the bins used
// in all.
func (s *scorer) pack(rule func(Instance) int) (mean float64, cases []float64, bins int) {
	for _, items := range s.on {
		n := rule(items)
		excess := float64(n)/float64(items.bound()) - 1
		bins, mean, cases = bins+n, mean+excess, append(cases, 1/(1+excess))
	}
	return mean / float64(len(s.on)), cases, bins
}

// score packs by the table that a program returned.
func (s *scorer) score(data json.RawMessage) eval.Result {
	t, err := decodeTable(data)
	if err != nil {
		return eval.Invalid("no table of priorities: %v", err)
	}
	excess, cases, bins := s.pack(t.pack)
	return eval.Result{Valid: true, Score: 1 / (1 + excess), Cases: cases, Metrics: map[string]float64{
		"excess": excess, "bins": float64(bins), "first_fit_excess": s.firstFit, "best_fit_excess": s.bestFit,
	}}
}

// system returns the specification of a program, in any language.
func (s *scorer) system() string {
	return fmt.Sprintf("You improve the rule of an online bin packing algorithm. Items come one after the other, and "+
		"each "+
		"has to be put into a bin before the next is seen. Items are integers from 1 to 100 that follow a Weibull "+
		"distribution with shape 3 and scale 45, and a bin holds 100. The goal is to use few bins. The score is "+
		"1 / (1 + excess), where the excess is by how much the number of bins exceeds the lower bound, the sum of the "+
		"items divided by 100. First fit has the score %.6f and best fit %.6f; there are much better rules.\n\n"+
		"The program defines a function priority with two parameters: item, the size of the item, and room, how much is "+
		"free in a bin before the item is put there. It is asked about the open bins that have room enough, so room "+
		"is at least item, and about a new bin, whose room is 100. It returns a number. The item goes into the bin with "+
		"the highest priority, and of equal ones into the one that was opened first; a new bin comes last. The function "+
		"has to depend on item and room alone: it is asked once about each pair, before the packing begins.",
		1/(1+s.firstFit), 1/(1+s.bestFit))
}

//go:embed initial
var initialFiles embed.FS

// initials returns first fit, by language.
func initials() map[string]string {
	programs := map[string]string{}
	for language, ext := range map[string]string{"javascript": ".js", "python": ".py"} {
		b, err := initialFiles.ReadFile("initial/packing" + ext)
		if err != nil {
			panic(fmt.Sprintf("packing: %v", err)) // the files are part of the package
		}
		programs[language] = string(b)
	}
	return programs
}
