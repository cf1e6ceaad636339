// Package cli is what the commands of the tool share: their flags, their progress on a terminal, and
// how they save results.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// Exit statuses.
const (
	exitError    = 1
	exitUsage    = 2
	exitCanceled = 130 // as a shell says of a program ended by Ctrl-C
)

// ErrCanceled is returned by a program that was stopped by Ctrl-C and has saved what it had.
var ErrCanceled = errors.New("stopped")

// A UsageError is wrong input: one clear line, and exit status 2.
type UsageError struct{ Err error }

// Error returns the line.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError in the manner of [fmt.Errorf].
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Main runs a program with the arguments of this process and returns its exit status. The context
// ends at the first Ctrl-C, or when the terminal is closed; a second Ctrl-C ends the process at once.
func Main(program func(ctx context.Context, args []string) error) int {
	ctx := untilSignal()
	err := program(ctx, os.Args[1:])
	if ctx.Err() != nil && errors.Is(err, context.Canceled) { // before there was a run to stop
		err = ErrCanceled
	}
	return status(err)
}

// untilSignal returns a context that ends at the first signal to stop, also in a process for which a shell ignores
// SIGINT since it runs in the background. The next SIGINT or SIGTERM ends the process. SIGHUP does not, since several
// processes send it when a terminal closes; under nohup it has no effect.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	stop, hangup := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangup, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-stop:
		case <-hangup:
		}
		cancel()
		<-stop
		os.Exit(exitCanceled)
	}()
	return ctx
}

// OutlivePipes lets the process go on where nobody reads what it prints any more: a run that pays for answers has to
// save them. Processes that it starts are not affected.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// status prints err in one line and returns the exit status for it.
func status(err error) int {
	var usage *UsageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrCanceled):
		return exitCanceled
	}
	var damage *wal.DamageError
	fmt.Fprintln(Stderr(), printable.Line(inFlags(err.Error())))
	if errors.As(err, &usage) || errors.As(err, &damage) {
		return exitUsage
	}
	return exitError
}

// inFlags returns what libraries say with the flags, the variables and the commands in the place of the fields that
// they set and the functions that they stand for. It cuts the middle of a long text, which repeats a value from a file.
func inFlags(text string) string {
	if n := len(text); n > 4000 {
		text = text[:2000] + " ... " + text[n-2000:]
	}
	return strings.NewReplacer("Config.BaseURL", "--api-base or "+openai.EnvBase, "Config.APIKey", openai.EnvKey,
		"Budget.Calls", "T·N", "Budget.Money", "--budget-usd", "Budget.Tokens", "--budget-tokens",
		"Budget.FLOPs", "--budget-flops", "Budget.WallTime", "--budget-time", "Budget.Target", "--target",
		"Budget.Stalls", "--max-stalls", "Budget.RoundsPerArm", "--T-cap-per-arm",
		"Budget.TuneEvaluations", "--tune or --agent-tries", "the budget's Stalls", "--max-stalls",
		"the model's Timeout", "--first-token, --silence or --timeout", "the model's MaxTokens", "--max-tokens",
		"its MaxTokens", "--max-tokens",
		"Config.Train[", "train[", "Config.Validation[", "validation[", "Config.HeldOut[", "held_out[",
		"Config.Open", "--change", "and Frozen", "and --frozen", "Config.Frozen", "--frozen", "Config.Base", "--base",
		"Config.Build", "--test", "Config.Run", "--score",
		"calls are the most", "calls are the most, by --agent-calls",
		"tokens are the most", "tokens are the most, by --agent-tokens",
		"tokens, which are the most", "tokens, which are the most by --agent-tokens",
		"Salvage copies what is sound before it", "--resume --salvage goes on from what is sound before it",
	).Replace(text)
}
