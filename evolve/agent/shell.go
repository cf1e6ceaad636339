package agent

import (
	"cmp"
	"context"
	"time"

	"github.com/evoalloc/evoalloc/eval/command"
)

// NewShell returns a [Loop]'s Shell that runs lines contained, in a checkout of the program that is made for each. cfg
// says what is found there and the bounds, as for a [command.Editor]; its Run is the shell's, and its Timeout is 2
// minutes by default.
func NewShell(cfg command.Config) (func(ctx context.Context, program, line string) (output string, err error), error) {
	cfg.Run, cfg.Args = []string{"sh", "-c", "exec 2>&1; exec sh -s"}, nil
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Minute)
	cfg.OutputBytes = cmp.Or(cfg.OutputBytes, mostResult)
	cfg.ResultBytes = cfg.OutputBytes
	e, err := command.NewEditor(cfg)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, program, line string) (string, error) {
		out, err := e.Edit(ctx, program, command.Job{Prompt: line + "\n"})
		if err != nil {
			return "", err
		}
		if out.Fault != nil {
			return out.Stdout + "\n[" + out.Fault.Reason + "]\n", nil
		}
		return out.Stdout, nil
	}, nil
}
