// Analyze turns a folder of results into what they say of depth against breadth and of one method against another, and
// how sure that is: tables on the terminal, analysis.json, CSV files and figures. It reads the files that the other
// examples write, and those of the BaSE paper's code.
//
//	go run ./examples/analyze --results results --out analysis
//	go run ./examples/analyze --results results/cp --ceiling 1.01 --min-calls 64
//
// Numbers are of evolve/analysis, figures of evolve/analysis/plot.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() {
	os.Exit(cli.Main(func(ctx context.Context, args []string) error { return run(ctx, args, cli.Stdout()) }))
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	fs := flag.NewFlagSet("analyze", flag.ContinueOnError)
	o.register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
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
