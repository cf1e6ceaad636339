package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	contained "github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/task"
)

// agentFlags are the flags of children that are made by sessions.
type agentFlags struct {
	kind   string // agentLoop, a shell command, or "" for none
	only   bool
	text   bool
	bounds agent.Bounds
	tries  int
	try    string // a command that scores tries; "" for the task's own evaluator

	limit func(eval.Evaluator) eval.Evaluator // what evaluations are under; set by prepare
	tuner eval.Evaluator                      // the task's for tuners, if tries go to that; set by prepare
}

// agentLoop names the agent that the library has.
const agentLoop = "loop"

func (a *agentFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&a.kind, "agent", "",
		"make children by sessions too: loop for a model with tools, or a shell `command` that runs an agent\n"+
			"The command finds the program in its working directory and the task on its standard input. Its calls go to "+
			"--model, at the address and with the token in OPENAI_BASE_URL, ANTHROPIC_BASE_URL and so on.")
	fs.BoolVar(&a.only, "agent-only", false, "with --agent: make all children by sessions")
	fs.BoolVar(&a.text, "agent-text", false, "with --agent loop: describe the tools in the prompt, for a model without")
	fs.IntVar(&a.bounds.Calls, "agent-calls", 30, "with --agent: most calls of a session, which are set aside when it "+
		"begins: sessions that T·N has no room for wait until others end")
	fs.IntVar(&a.bounds.Tokens, "agent-tokens", 400_000, "with --agent: most tokens of a session, prompts and completions")
	fs.StringVar(&a.try, "agent-try", "",
		"with --agent loop and --base: a shell `command` that scores tries in the place of --score, on fewer cases say")
	fs.IntVar(&a.tries, "agent-tries", 200, "with --agent loop: tune evaluations that all sessions may make")
}

// check checks the flags.
func (a *agentFlags) check(o *cli.Options) error {
	for _, name := range []string{"agent-only", "agent-text", "agent-calls", "agent-tokens", "agent-tries", "agent-try"} {
		if o.Given(name) && a.kind == "" {
			return cli.Usagef("--%s has no effect without --agent", name)
		}
	}
	switch {
	case a.kind == "":
		return nil
	case o.Offline():
		return cli.Usagef("--agent needs a --model: the offline one calls no tools")
	case a.bounds.Calls < 1:
		return cli.Usagef("--agent-calls is %d: need at least 1", a.bounds.Calls)
	case a.bounds.Tokens < 1:
		return cli.Usagef("--agent-tokens is %d: need at least 1", a.bounds.Tokens)
	case a.tries < 0:
		return cli.Usagef("--agent-tries is %d: need 0 for none, or more", a.tries)
	case a.kind != agentLoop && (a.text || o.Given("agent-tries") || a.try != ""):
		return cli.Usagef("--agent-text, --agent-tries and --agent-try have an effect with --agent loop alone")
	case a.try != "" && !o.IsTree():
		return cli.Usagef("--agent-try has no effect without --base")
	}
	return nil
}

// tuned returns the tune evaluations of the run.
func (a *agentFlags) tuned() int {
	if a.kind != agentLoop {
		return 0
	}
	return a.tries
}

// prepare finds what scores tries. Whatever it is, it is under the limit on evaluations. With workers tries go to them,
// who score for the task alone.
func (a *agentFlags) prepare(
	ctx context.Context, o *cli.Options, t task.Task, limit func(eval.Evaluator) eval.Evaluator,
) error {
	a.limit = limit
	tuner, ok := task.As[interface {
		TuneEvaluator(context.Context) (eval.Evaluator, error)
	}](t)
	if !ok || a.kind != agentLoop || a.try != "" || o.NATS.URL != "" {
		return nil
	}
	switch e, err := tuner.TuneEvaluator(ctx); {
	case err == nil:
		a.tuner = tries{limit(e), "tries of " + t.Name()}
	case !errors.Is(err, errors.ErrUnsupported):
		return cli.Usagef("--agent loop: %w", err)
	}
	return nil
}

// A tries is what scores tries, by its name in journals, which does not tell of limits.
type tries struct {
	eval.Evaluator
	name string
}

// String is the name.
func (t tries) String() string { return t.name }

// added returns a search whose children are made by sessions too, if flags ask for them.
func (a *agentFlags) added(o *cli.Options, t task.Task, cfg population.Config) (population.Config, error) {
	if a.kind == "" {
		return cfg, nil
	}
	a.bounds.MaxTokens = o.MaxTokens
	made, err := a.operator(o.Checkout(), "program"+task.Ext(t))
	if err != nil {
		return cfg, cli.Usagef("--agent: %w", err)
	}
	if loop, ok := made.(*agent.Loop); ok {
		loop.On = a.tuner
		if a.try != "" {
			e, err := o.Trying(a.try)
			if err != nil {
				return cfg, cli.Usagef("--agent-try: %w", err)
			}
			loop.On = tries{a.limit(e), fmt.Sprint(e)}
		}
	}
	if a.only {
		cfg.Operators, cfg.Policy = []population.Operator{made}, nil
		return cfg, nil
	}
	return with(cfg, made), nil
}

// operator returns the agent, whose commands find a program as checkout says, in a file of that name if it is none of a
// tree.
func (a *agentFlags) operator(checkout contained.Config, file string) (population.Operator, error) {
	if checkout.Base == "" {
		checkout.File = file
	}
	if a.kind == agentLoop {
		shell, err := agent.NewShell(checkout)
		if err != nil {
			return nil, err
		}
		return &agent.Loop{Shell: shell, Text: a.text, Bounds: a.bounds}, nil
	}
	checkout.Run = []string{"sh", "-c", a.kind}
	editor, err := contained.NewEditor(checkout)
	if err != nil {
		return nil, err
	}
	return &agent.Command{Editor: editor, Bounds: a.bounds}, editor.CanReach()
}
