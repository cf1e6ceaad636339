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
	"os"

	"github.com/evoalloc/evoalloc/examples/internal/analyze"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() {
	os.Exit(cli.Main(func(ctx context.Context, args []string) error { return analyze.Run(ctx, args, cli.Stdout()) }))
}
