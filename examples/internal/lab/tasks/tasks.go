// Package tasks holds tasks of unlike kinds that can be searched without a model: for banks of searches, and to
// measure policies and breadth on. Each is a real objective with a stand-in for the model.
package tasks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// A Kind is a task that can be searched.
type Kind struct {
	Key   string // short: "cp"
	Title string // for people
	// Make returns the task, and the model that stands in for a real one. The objective is the same each time, so
	// that searches made at different times can be compared.
	Make func() (task.Task, llm.LLM, error)
}

// All returns the tasks: the built-in ones, whose programs are JavaScript, and those of this package, whose programs
// are data that Go reads and scores.
func All() []Kind {
	var all []Kind
	for _, p := range geometry.Problems() {
		all = append(all, Kind{p.Key, p.Title, func() (task.Task, llm.LLM, error) { return newGeometry(p) }})
	}
	return append(all,
		Kind{"nk", fmt.Sprintf("NK landscape of %d bits, each of which interacts with %d others", nkBits, nkOthers), newNK},
		Kind{"labs", fmt.Sprintf("low-autocorrelation binary sequence of length %d", labsBits), newLABS},
		Kind{"tsp", fmt.Sprintf("shortest round tour of %d cities", tspCities), newTSP},
		Kind{"fit", fmt.Sprintf("sum of %d bumps fitted to %d points of a noisy curve", fitBumps, fitPoints), newFit},
	)
}

// Keys returns the keys of all tasks.
func Keys() []string {
	var keys []string
	for _, k := range All() {
		keys = append(keys, k.Key)
	}
	return keys
}

func newGeometry(p geometry.Problem) (task.Task, llm.LLM, error) {
	runner, err := js.New(js.Config{})
	if err != nil {
		return nil, nil, err
	}
	t, err := p.Task(runner, "javascript")
	if err != nil {
		return nil, nil, err
	}
	model, err := offline.New(offline.Config{})
	return t, model, err
}

// listOf reads a program that is a JSON list of n values.
func listOf[T any](program string, n int) ([]T, error) {
	var list []T
	if err := json.Unmarshal([]byte(program), &list); err != nil {
		return nil, fmt.Errorf("no JSON list: %w", err)
	}
	if len(list) != n {
		return nil, fmt.Errorf("a list of %d values: need %d", len(list), n)
	}
	return list, nil
}

// list writes a program that is a JSON list of finite numbers.
func list[T any](values []T) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // no number that a stand-in makes is infinite
	}
	return string(text)
}

// scored returns an evaluator of programs that are data: read says what is wrong with one, as candidates are not
// trusted, and score is told what it holds.
func scored[T any](read func(program string) (T, error), score func(T) float64) eval.Func {
	return func(_ context.Context, program string) (eval.Result, error) {
		v, err := read(program)
		if err != nil {
			return eval.Invalid("%v", err), nil
		}
		return eval.Result{Valid: true, Score: score(v)}.Clean(), nil
	}
}
