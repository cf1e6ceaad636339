package cli

import (
	"flag"
	"os"
	"strings"

	commands "github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/python"
)

// letIn are the flags that lift containment for what a task needs.
type letIn struct{ with, env, writable, devices []string }

func (l *letIn) register(fs *flag.FlagSet) {
	fs.Var((*repeated)(&l.with), "with",
		"a `folder` that an evaluator.py or a Python program may import from besides its own; may be given again")
	fs.Var((*repeated)(&l.env), "env",
		"a `variable` of the environment that evaluations are passed: NAME, or NAME=VALUE; may be given again")
	fs.Var((*repeated)(&l.writable), "writable",
		"a `folder` that evaluations may write to for good, besides their temporary ones; may be given again")
	fs.Var((*repeated)(&l.devices), "device",
		"a `device` that Python evaluations may use: nvidia, or a path below /dev; may be given again\n"+
			"The limit on memory then counts what is in use, and not address space.")
}

// check refuses what cannot be let in.
func (l *letIn) check(o *Options) error {
	for _, v := range l.env {
		name, value, given := strings.Cut(v, "=")
		if !given {
			if value, given = os.LookupEnv(name); !given {
				return Usagef("--env %s: there is no such variable; --env %s=VALUE gives it a value", name, name)
			}
		}
		if key := os.Getenv("LLM_API_KEY"); name == "LLM_API_KEY" || key != "" && strings.Contains(value, key) {
			return Usagef("--env %s: that is the key of the model, which no evaluation may have", name)
		}
	}
	switch builtIn := o.BuiltIn() && o.Runtime == "js"; {
	case o.IsTree() && len(l.with)+len(l.devices) > 0:
		return Usagef("--with and --device have no effect with --base")
	case builtIn && !o.IsTree() && l.String() != "":
		return Usagef("--with, --env, --writable and --device have no effect on programs in JavaScript")
	}
	return nil
}

// String says what is let in, without the values of variables.
func (l *letIn) String() string {
	var parts []string
	add := func(what string, values []string) {
		if len(values) > 0 {
			parts = append(parts, what+" "+strings.Join(values, ", "))
		}
	}
	names := make([]string, len(l.env))
	for i, v := range l.env {
		names[i], _, _ = strings.Cut(v, "=")
	}
	add("import from", l.with)
	add("read the variables", names)
	add("write to", l.writable)
	add("use the devices", l.devices)
	return strings.Join(parts, "; ")
}

// say prints what is let in.
func (l *letIn) say() {
	if text := l.String(); text != "" {
		Printf("evaluations may %s\n", text)
	}
}

// Python returns how the flags have Python run.
func (o *Options) Python() python.Config {
	l := o.letIn
	return python.Config{Workers: o.ParallelEval, Timeout: o.FolderTimeout(), Hide: o.NATS.Secrets(),
		With: l.with, Env: l.env, Writable: l.writable, Devices: l.devices}
}

// lets adds to cfg what commands may have.
func (l *letIn) lets(cfg *commands.Config) {
	cfg.Env, cfg.Writable = append(cfg.Env, l.env...), append(cfg.Writable, l.writable...)
}
