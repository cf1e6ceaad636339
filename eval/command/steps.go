package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// The names of steps, as in Config.
const (
	stepBuild = "Build"
	stepRun   = "Run"
	stepScore = "Score"
)

// A step is one command of an evaluation. Steps run one after another, each contained by itself.
type step struct {
	name     string // stepBuild, stepRun or stepScore
	args     []string
	plan     *sandbox.Plan
	writable []string // writable folders besides its own
}

// commands returns the steps of c in order, without folders and plans.
func (c Config) commands() []step {
	steps := []step{{name: stepBuild, args: c.Build}, {name: stepRun, args: c.Run}, {name: stepScore, args: c.Score}}
	return slices.DeleteFunc(steps, func(s step) bool { return s.args == nil })
}

// steps returns the steps of c under plan. Score does not see Writable, where candidates write.
func (c Config) steps(plan *sandbox.Plan) ([]step, error) {
	steps := c.commands()
	for i := range steps {
		s := &steps[i]
		if s.plan, s.writable = plan, c.Writable; s.name != stepScore {
			continue
		}
		var err error
		if s.plan, err = plan.Hiding(c.Writable); err != nil {
			return nil, fmt.Errorf("command: keeping Config.Writable from Config.Score: %w", err)
		}
		s.writable = nil
	}
	return steps, nil
}

// validateSteps checks the commands.
func (c Config) validateSteps() error {
	name := stepRun
	if c.Run == nil && c.Build == nil && c.Score == nil {
		name = "Args"
	}
	switch {
	case c.Args != nil && c.Run != nil:
		return fmt.Errorf("command: Config.Args is %q, and Config.Run %q: they mean the same, so set one of them",
			c.Args, c.Run)
	case len(c.Args)+len(c.Run) == 0:
		return fmt.Errorf("command: Config.%s is %q: need a command", name, c.Run)
	}
	program := c.Template != "" || c.Base != "" || c.edits
	for _, s := range c.command().commands() {
		if len(s.args) == 0 || s.args[0] == "" {
			return fmt.Errorf("command: Config.%s is %q: need a command", s.name, s.args)
		}
		early := has(s.args, "{build}") && (c.Build == nil || s.name == stepBuild)
		if early || has(s.args, "{run}") && s.name != stepScore {
			return fmt.Errorf("command: Config.%s is %q: {build} and {run} are the folders of earlier steps", s.name, s.args)
		}
		program = program || has(s.args, "{program}")
	}
	if !program {
		return fmt.Errorf("command: Config.%s is %q: need {program}, where the path of the candidate's file goes",
			name, c.command().Run)
	}
	return nil
}

// command returns c with Args moved to Run.
func (c Config) command() Config {
	if c.Run == nil {
		c.Run = c.Args
	}
	return c
}

// has reports whether one of args holds the placeholder.
func has(args []string, placeholder string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, placeholder) })
}

// describe returns the commands for people.
func (c *command) describe() string {
	var words []string
	for _, s := range c.steps {
		words = append(words, strings.TrimSuffix(filepath.Base(s.args[0])+" "+strings.Join(s.args[1:], " "), " "))
	}
	return "(" + strings.Join(words, ", then ") + ")"
}
