package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// runSalvage makes a damaged journal one that its run goes on from: what is sound before the damage. The damaged file is
// kept under another name.
func runSalvage(_ context.Context, args []string) error {
	fs := cli.NewFlags("salvage", "JOURNAL: keep what is sound of a damaged journal, so that its run can go on")
	path, err := cli.ParseOne(fs, args, "a journal")
	if err != nil {
		return err
	}
	switch run, damage := journal.Inspect(path); {
	case damage == nil:
		return cli.Usagef("salvage: %s is not damaged, and is left as it is", path)
	case !run.Begun:
		return cli.Usagef("salvage: nothing can be kept: %w", damage)
	}
	if used, err := journal.InUse(path); err != nil || used {
		return cli.Usagef("salvage: a run has %s open: %w", path, err)
	}
	sound := path + ".sound"
	records, damage, err := journal.Salvage(path, sound)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	kept := unusedName(path)
	if err := os.Rename(path, kept); err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	if err := os.Rename(sound, path); err != nil {
		return fmt.Errorf("salvage: %w: the damaged file is %s, and what is sound of it %s", err, kept, sound)
	}
	cli.Printf("%v\n%s has the %d records before that; the damaged file is %s\n", damage, path, records, kept)
	cli.Printf("the run's command goes on from there with --resume, and asks for what is lost again\n")
	return nil
}

// unusedName returns a name beside a journal that no file has, and that is no journal's.
func unusedName(path string) string {
	base := strings.TrimSuffix(path, ".journal") + ".damaged"
	name := base
	for k := 2; ; k++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s%d", base, k)
	}
}
