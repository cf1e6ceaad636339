// Package analyze reads a folder of results and reports on depth against breadth and on one method against another,
// with tables and figures. It is the analyze command, and makes the studies of the report command.
package analyze

import (
	"context"
	"fmt"
	"io"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// Run is the program: it parses args, prints the report to stdout and writes the files.
func Run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	fs := cli.NewFlags("analyze",
		"[flags] [FOLDER]: say what the results in a folder say of depth, breadth and methods, in words, tables and figures")
	o.register(fs)
	folders, err := cli.ParseArgs(fs, args)
	switch {
	case err != nil:
		return err
	case len(folders) > 1:
		return cli.Usagef("analyze: unexpected argument %q: need one folder", folders[1])
	case len(folders) == 1:
		o.results = folders[0]
	}
	if err := o.validate(); err != nil {
		return err
	}
	files, skipped, err := readFolder(ctx, o.results)
	if err != nil {
		return err
	}
	r, err := newReport(ctx, o, files, skipped)
	if err != nil {
		return err
	}
	r.print(stdout)
	if err := r.save(ctx, o.out); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%s has analysis.json, cells.csv, runs.csv and %s\n", o.out, count(len(r.figures), "figure"))
	return nil
}
