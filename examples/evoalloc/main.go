// Evoalloc evolves programs with language models, and shows, compares and exports the results.
//
//	go install github.com/evoalloc/evoalloc/examples/evoalloc@latest
//	evoalloc                # what commands there are
//	evoalloc bandit --help  # the flags that people change; --help-all has all
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/examples/internal/analyze"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/export"
	"github.com/evoalloc/evoalloc/examples/internal/policies"
	"github.com/evoalloc/evoalloc/examples/internal/report"
	"github.com/evoalloc/evoalloc/examples/internal/sweep"
)

// A command is a word after the tool's name.
type command struct {
	name, does string
	run        func(ctx context.Context, args []string) error
}

// commands returns the commands in groups, by purpose. A new command is a line here.
func commands() []group {
	return []group{
		{"Evolve programs", []command{
			{"greedy", "one greedy search", runGreedy},
			{"bandit", "a bandit over several greedy searches", runBandit},
			{"populations", "searches that keep many programs, as other systems do, or a bandit over several", runPopulations},
			{"text", "a prompt, by what a model replies to cases", runText},
			{"sweep", "a grid of runs: depth against breadth, methods, budgets, seeds", sweep.Run},
			{"worker", "score programs for runs on other machines", runWorker},
		}},
		{"See what came of it", []command{
			{"watch", "a page on which runs are watched", runWatch},
			{"report", "one HTML file of runs and studies that anyone can open", report.Run},
			{"analyze", "what a folder of results says, in words, tables and figures", printing(analyze.Run)},
			{"policies", "bandit policies compared on simulated or logged searches, without a model", printing(policies.Run)},
			{"export", "which program came from which, as a git repository or JSON Lines", printing(export.Run)},
		}},
	}
}

// A group of commands has a heading in the list.
type group struct {
	does     string
	commands []command
}

// printing returns a command from one that takes its output as an argument.
func printing(run func(context.Context, []string, io.Writer) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error { return run(ctx, args, cli.Stdout()) }
}

func main() { os.Exit(cli.Main(run)) }

// run runs the command that the first argument names.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help", "--help-all"}, args[0]) {
		list()
		return flag.ErrHelp
	}
	var names []string
	for _, g := range commands() {
		for _, c := range g.commands {
			if c.name == args[0] {
				return c.run(ctx, args[1:])
			}
			names = append(names, c.name)
		}
	}
	return cli.Usagef("unknown command %q: it is one of %s", args[0], strings.Join(names, ", "))
}

// list prints the commands.
func list() {
	cli.Printf("Usage: evoalloc COMMAND [flags]\n")
	for _, g := range commands() {
		cli.Printf("\n%s:\n", g.does)
		for _, c := range g.commands {
			cli.Printf("  %-12s %s\n", c.name, c.does)
		}
	}
	cli.Printf("\nevoalloc COMMAND --help shows the flags that people change, --help-all all of them.\n")
}
