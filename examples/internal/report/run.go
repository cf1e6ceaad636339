// Package report is the command report. It writes one HTML file of runs, which anyone can open: results, journals of runs that are over, running or
// killed, folders of them, sweeps, and the comparisons of the command compare. The file needs no network.
//
//	evoalloc report results/cp/offline/greedy_C64_T8_N8_seed40.journal
//	evoalloc report -o sweep.html results
//	evoalloc report -o all.html results runs.csv
//
// Of a journal it shows all, with programs. A result has none, so it is shown only where its journal is missing.
package report

import (
	"context"
	"errors"
	"flag"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func Run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("report", flag.ContinueOnError)
	out := fs.String("o", "report.html", "file to write; what is there is replaced")
	paths, err := parse(fs, args)
	if err != nil {
		return err
	}
	b := builder{seen: map[string]bool{}}
	for _, path := range paths {
		if err := b.add(ctx, path); err != nil {
			return err
		}
	}
	for _, word := range b.words {
		cli.Printf("%s\n", word)
	}
	if len(b.page.Runs)+len(b.page.Studies) == 0 {
		return &cli.UsageError{Err: errors.New("nothing to show: no journal, result, sweep or comparison among what was given")}
	}
	if err := b.save(*out); err != nil {
		return err
	}
	cli.Printf("%s shows %s and %s\n", *out, count(len(b.page.Runs), "run"), count(len(b.page.Studies), "study"))
	return nil
}

// parse returns the paths. Flags may stand after them, too.
func parse(fs *flag.FlagSet, args []string) (paths []string, err error) {
	for len(args) > 0 {
		if err := cli.ParseFlags(fs, args); err != nil {
			return nil, err
		}
		if args = fs.Args(); len(args) > 0 {
			paths, args = append(paths, args[0]), args[1:]
		}
	}
	if len(paths) == 0 {
		return nil, cli.Usagef("need the paths of what to show: journals, results, CSV files of evoalloc compare, or folders")
	}
	return paths, nil
}
