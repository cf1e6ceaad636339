package main

import (
	"errors"
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// helped returns what the tool prints with args, which end in help.
func helped(t *testing.T, args ...string) (text string) {
	t.Helper()
	return runtest.Output(t, func() {
		if err := run(t.Context(), args); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: %v, want help", args, err)
		}
	})
}

var flagLine = regexp.MustCompile(`(?m)^  --([\w-]+)`)

// The help of each command fits a screen. --help-all has all that --help has, each flag once.
func TestHelpFitsAScreen(t *testing.T) {
	listed := helped(t)
	for _, g := range commands() {
		for _, c := range g.commands {
			if !strings.Contains(listed, "\n  "+c.name+" ") {
				t.Errorf("the list of commands lacks %s:\n%s", c.name, listed)
			}
			short, all := helped(t, c.name, "--help"), helped(t, c.name, "--help-all")
			few, many := flagLine.FindAllString(short, -1), flagLine.FindAllString(all, -1)
			if n := strings.Count(short, "\n"); len(few) > 15 || n > 40 {
				t.Errorf("%s --help has %d flags in %d lines, want at most 15 in 40", c.name, len(few), n)
			}
			slices.Sort(many)
			if once := slices.Compact(slices.Clone(many)); len(once) != len(many) || len(many) <= len(few) {
				t.Errorf("%s --help-all has %d flags, %d of them different, and --help %d", c.name, len(many), len(once), len(few))
			}
			for _, f := range few {
				if !slices.Contains(many, f) {
					t.Errorf("%s --help-all lacks %s", c.name, f)
				}
			}
		}
	}
}

func TestUnknownCommand(t *testing.T) {
	var usage *cli.UsageError
	if err := run(t.Context(), []string{"greddy"}); !errors.As(err, &usage) ||
		!strings.Contains(err.Error(), `"greddy": it is one of greedy, bandit`) {
		t.Errorf("%v, want a usage error that names the commands", err)
	}
}
