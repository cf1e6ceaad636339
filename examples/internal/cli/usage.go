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
// ends at the first Ctrl-C; a second one ends the process at once.
func Main(program func(ctx context.Context, args []string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal has its usual effect
	err := program(ctx, os.Args[1:])
	if ctx.Err() != nil && errors.Is(err, context.Canceled) { // before there was a run to stop
		err = ErrCanceled
	}
	return status(err)
}

// status prints err in one line and returns the exit status for it.
func status(err error) int {
	var usage *UsageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrCanceled):
		return exitCanceled
	}
	fmt.Fprintln(Stderr(), printable.Line(inFlags(err.Error())))
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitError
}

// inFlags returns what an endpoint's client says with the flag and the variable in the place of the fields
// that they set.
func inFlags(text string) string {
	return strings.NewReplacer("Config.BaseURL", "--api-base or "+openai.EnvBase, "Config.APIKey",
		openai.EnvKey).Replace(text)
}
