package cli

import (
	"os"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
	"github.com/evoalloc/evoalloc/task/packing"
)

// A Problem is a built-in task without the way to run its programs.
type Problem struct {
	Key  string
	Task func(r eval.Runner, language string) (task.Task, error)
}

// problems returns the built-in problems.
func problems() (all []Problem) {
	for _, p := range geometry.Problems() {
		all = append(all, Problem{p.Key, p.Task})
	}
	bins := func(r eval.Runner, language string) (task.Task, error) { return packing.Weibull().Task(r, language) }
	return append(all, Problem{packing.Key, bins}, Problem{Key: textKey}) // instances are drawn when they are needed
}

// Problem returns the built-in problem that --task names, and false if --task is a folder. Anything else is a
// [UsageError].
func (o *Options) Problem() (p Problem, builtIn bool, err error) {
	if p, builtIn = problem(o.Task); builtIn {
		if p.Key == textKey {
			p.Task = func(eval.Runner, string) (task.Task, error) { return o.text() }
		}
		if o.Runtime != "js" && o.Runtime != "python" {
			return p, true, Usagef("unknown runtime %q: it is js or python", o.Runtime)
		}
		return p, true, nil
	}
	info, err := os.Stat(o.Task)
	switch {
	case err != nil || !info.IsDir():
		return p, false, Usagef("unknown task %q: it is one of %s, or a folder", o.Task, strings.Join(taskKeys(), ", "))
	case o.given["runtime"]:
		return p, false, Usagef("--runtime has no effect on the folder %s: its evaluator runs its programs", o.Task)
	}
	return p, false, nil
}

// FolderTimeout returns the limit for one evaluation of a folder: 0, for the folder's own, unless --eval-timeout is
// given.
func (o *Options) FolderTimeout() time.Duration {
	if o.given["eval-timeout"] {
		return o.EvalTimeout
	}
	return 0
}

// BuiltIn reports whether --task names a built-in task whose programs are JavaScript or Python.
func (o *Options) BuiltIn() bool {
	p, found := problem(o.Task)
	return found && p.Key != textKey
}

// problem returns the built-in problem of that key.
func problem(key string) (p Problem, found bool) {
	for _, p := range problems() {
		if p.Key == key {
			return p, true
		}
	}
	return p, false
}

func taskKeys() []string {
	var keys []string
	for _, p := range problems() {
		keys = append(keys, p.Key)
	}
	return keys
}
