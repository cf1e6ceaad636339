// Package cli is what the commands of the tool share: their flags, their progress on a terminal, and
// how they save results.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
	return strings.NewReplacer("Config.BaseURL", "--api-base or "+openai.EnvBase, "Config.APIKey", openai.EnvKey).Replace(text)
}

// Parse reads args into fs. A wrong flag is a UsageError of one line; --help prints all flags.
func Parse(fs *flag.FlagSet, args []string) error {
	err := ParseFlags(fs, args)
	if err == nil && fs.NArg() > 0 {
		return Usagef("%s: unexpected argument %q (see --help)", fs.Name(), fs.Arg(0))
	}
	return err
}

// ParseOne is [Parse] of a program that takes one argument after the flags, and returns that. what says what it is.
func ParseOne(fs *flag.FlagSet, args []string, what string) (string, error) {
	err := ParseFlags(fs, args)
	switch {
	case err != nil:
		return "", err
	case fs.NArg() == 0:
		return "", Usagef("%s: %s is missing (see --help)", fs.Name(), what)
	case fs.NArg() > 1:
		return "", Usagef("%s: unexpected argument %q: need %s alone, after the flags (see --help)", fs.Name(), fs.Arg(1), what)
	}
	return fs.Arg(0), nil
}

// ParseFlags is [Parse] of a program that takes other arguments too.
func ParseFlags(fs *flag.FlagSet, args []string) error {
	err := parseQuietly(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fs.SetOutput(Stdout())
		fs.Usage()
		return err
	case err != nil:
		return Usagef("%s: %w (see --help)", fs.Name(), err)
	}
	return nil
}

// parseQuietly is fs.Parse without what package flag prints on errors.
func parseQuietly(fs *flag.FlagSet, args []string) error {
	usage := fs.Usage
	fs.Usage = func() {}
	fs.SetOutput(io.Discard)
	defer func() { fs.Usage = usage }()
	return fs.Parse(args)
}
