// Package report is the command report. It writes one HTML file of runs, which anyone can open: results, journals
// of runs that are over, running or killed, folders of them, and sweeps.
// The file needs no network.
//
//	evoalloc report results/cp/offline/greedy_C64_T8_N8_seed40.journal
//	evoalloc report -o sweep.html results
//	evoalloc report -o all.html results
//
// Of a journal it shows all, with programs. A result has none, so it is shown only where its journal is missing.
package report

import (
	"context"
	"errors"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func Run(ctx context.Context, args []string) error {
	fs := cli.NewFlags("report",
		"[flags] PATH...: make one HTML file of journals, results and folders of them")
	out := fs.String("o", "report.html", "file to write; what is there is replaced")
	b := builder{seen: map[string]bool{}}
	cli.Bases(fs, &b.bases)
	paths, err := cli.ParseArgs(fs, args)
	switch {
	case err != nil:
		return err
	case len(paths) == 0:
		return cli.Usagef("need the paths of what to show: journals, results or folders of them")
	}
	for _, path := range paths {
		if err := b.add(ctx, path); err != nil {
			return err
		}
	}
	b.sayLeft("")
	for _, word := range b.words {
		cli.Printf("%s\n", word)
	}
	if len(b.page.Runs)+len(b.page.Studies) == 0 {
		return &cli.UsageError{Err: errors.New("nothing to show: no journal, result, sweep or comparison among what was " +
			"given")}
	}
	if err := b.save(*out); err != nil {
		return err
	}
	cli.Printf("%s shows %s and %s\n", *out, count(len(b.page.Runs), "run"), count(len(b.page.Studies), "study"))
	return nil
}
