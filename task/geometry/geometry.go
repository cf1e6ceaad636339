// Package geometry holds three problems of discrete geometry as tasks: packing circles in a square,
// spreading points in the plane, and keeping points in a triangle from lying on a line.
//
// A program returns coordinates and Go scores them, so a program can only be wrong, not cheat. Scores are relative to
// the best value known, so 1 equals that. Constraints have a tolerance, since coordinates are rounded; a violation
// within it is scored as a corrected solution, so that it gains nothing.
//
// The problems, their sizes and the values to compare with are from "AlphaEvolve: a coding agent for
// scientific and algorithmic discovery" (Novikov et al., 2025, appendix B).
package geometry

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// A Problem is a task without the way to run programs.
type Problem struct {
	Key     string                            // short and fit for a path: "cp"
	Title   string                            // for people: "circle packing, 26 circles in the unit square"
	Entry   string                            // the program's function, called without arguments
	System  string                            // specification of a program, in any language
	Score   func(json.RawMessage) eval.Result // scores Entry's return value, as untrusted JSON
	Initial map[string]string                 // by language ("javascript", "python"): the program to start from
}

// Problems returns the problems of this package.
func Problems() []Problem {
	return []Problem{CirclePacking(), MinMaxDistance(), Heilbronn()}
}

// Task returns p as a task whose programs are in language and run by r. It fails if p has no initial
// program in that language.
func (p Problem) Task(r eval.Runner, language string) (task.Task, error) {
	initial, ok := p.Initial[language]
	if !ok {
		languages := slices.Sorted(maps.Keys(p.Initial))
		return nil, fmt.Errorf("geometry: %s has no program in %q: have %s", p.Key, language, strings.Join(languages, ", "))
	}
	system := p.System
	if rules := rules(language); rules != "" {
		system += "\n\n" + rules
	}
	return task.New(task.Spec{
		Name:      p.Key,
		Language:  language,
		System:    system,
		Initial:   initial,
		Evaluator: eval.Scored(r, p.Entry, p.Score),
	})
}

// rules returns what programs in language may use.
func rules(language string) string {
	switch language {
	case "javascript":
		return "The program is one script in JavaScript (ES2023), without any library: no imports, files, " +
			"network, timers or eval. It is stopped after a few seconds, and the clock stands still, so " +
			"bound every loop by a count. Math.random gives the same numbers in every run."
	case "python":
		return "The program is one module in Python 3; numpy is there, files and the network are not. It " +
			"is stopped after a time limit, so bound every loop, and seed any random numbers."
	}
	return ""
}

//go:embed initial
var initialFiles embed.FS

// initial returns the programs that the problem with the given key starts from.
func initial(key string) map[string]string {
	programs := map[string]string{}
	for language, ext := range map[string]string{"javascript": ".js", "python": ".py"} {
		b, err := initialFiles.ReadFile("initial/" + key + ext)
		if err != nil {
			panic(fmt.Sprintf("geometry: %v", err)) // the files are part of the package
		}
		programs[language] = string(b)
	}
	return programs
}
