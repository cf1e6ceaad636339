package main

import (
	"context"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// runWatch shows a run, or a folder of runs as tabs, on a page in a browser: runs that are live in other processes,
// killed, or finished. It prints the link, without which nobody can open the page, and serves the page until Ctrl-C. It
// only reads the journals, so a run is not disturbed.
func runWatch(ctx context.Context, args []string) error {
	w := cli.Watch{On: true}
	fs := cli.NewFlags("watch", "[flags] PATH: show the run of a journal, or all runs of a folder, on a page")
	w.Register(fs)
	cli.Bases(fs, &w.Bases)
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
