package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/task"
)

// parts are the flag --show: the most tokens of each section of prompts.
type parts task.Bounds

// String returns the bounds as they are given.
func (s parts) String() string {
	return strings.ReplaceAll(strings.ReplaceAll(task.Bounds(s).String(), ":", "="), " ", ",")
}

// Set takes PART=TOKENS,...
func (s *parts) Set(text string) error {
	*s = parts{}
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(strings.TrimSpace(part), "=")
		tokens, err := strconv.Atoi(number)
		switch {
		case !slices.Contains(task.ShowNames(), name):
			return Usagef("%q is no part of prompts: they are %s", name, strings.Join(task.ShowNames(), ", "))
		case !ok || err != nil || tokens < 0:
			return Usagef("%q: need a number of tokens, 0 or more: %s=500", part, name)
		}
		(*s)[name] = tokens
	}
	return nil
}

// checkShow finds parts that would have no effect.
func (o *Options) checkShow() error {
	if o.command != "populations" && o.Show[task.ShowAttempts] > 0 {
		return Usagef("--show %s=... has no effect without the command populations: greedy search remembers none",
			task.ShowAttempts)
	}
	return nil
}

// Bounded returns t with the bounds of --show, if there are any.
func (o *Options) Bounded(t task.Task) task.Task {
	if len(o.Show) == 0 {
		return t
	}
	return task.WithBounds(t, task.Bounds(o.Show))
}
