// Watch shows a run, or a folder of runs as tabs, on a page in a browser: runs that go on in other processes, that were
// killed, and that are over.
//
//	go run ./examples/watch results                # all runs below the folder
//	go run ./examples/watch --open run.journal     # one run
//
// It prints a link, which lets only those in who have it, and serves the page until Ctrl-C. It reads the journals and
// nothing else, so a run notices nothing of it.
package main

import (
	"context"
	"flag"
	"os"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }

func run(ctx context.Context, args []string) error {
	w := cli.Watch{On: true}
	fs := flag.NewFlagSet("watch", flag.ContinueOnError)
	w.RegisterPage(fs)
	path, err := cli.ParseOne(fs, args, "a journal, or a folder with runs,")
	if err != nil {
		return err
	}
	page, err := w.Begin(path)
	if err != nil {
		return err
	}
	defer page.Close()
	if err := page.Follow(path); err != nil {
		return &cli.UsageError{Err: err}
	}
	return page.Stay(ctx, nil)
}
