package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// runSalvage makes a damaged journal one that its run goes on from: what is sound before the damage. The damaged file
// is kept under another name.
func runSalvage(_ context.Context, args []string) error {
	fs := cli.NewFlags("salvage", "JOURNAL: keep what is sound of a damaged journal, so that its run can go on")
	path, err := cli.ParseOne(fs, args, "a journal")
	if err != nil {
		return err
	}
	run, bad := journal.Inspect(path)
	switch {
	case bad == nil:
		return cli.Usagef("salvage: %s is not damaged, and is left as it is", path)
	case !run.Begun:
		return cli.Usagef("salvage: nothing can be kept: %w", bad)
	}
	switch used, err := journal.InUse(path); {
	case err != nil:
		return cli.Usagef("salvage: %w", err)
	case used:
		return cli.Usagef("salvage: a run has %s open", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".salvage-") // of its own, so that no other process writes there
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	defer os.RemoveAll(dir)
	sound := filepath.Join(dir, filepath.Base(path))
	records, damage, err := journal.Salvage(path, sound)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if _, stays := journal.Inspect(sound); stays != nil || damage == nil {
		return cli.Usagef("salvage: %w: its line is sound, so %s is left as it is", bad, path)
	}
	kept := unusedName(path)
	if err := keep(path, kept); err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	if err := os.Rename(sound, path); err != nil { // at every instant path has a journal, from which no run begins anew
		return errors.Join(fmt.Errorf("salvage: %w", err), os.Remove(kept))
	}
	cli.Printf("%v\n%s has the %d records before that; the damaged file is %s\n", damage, path, records, kept)
	cli.Printf("the run's command goes on from there with --resume, and asks for what is lost again\n")
	return nil
}

// keep gives the file at path a second name, or copies it where files have one name alone.
func keep(path, kept string) error {
	if os.Link(path, kept) == nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return report.SaveFile(kept, data)
}

// unusedName returns the path of a file that does not exist yet, in the journal's folder. It does not end in .journal,
// so nothing takes the damaged file for a journal.
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
