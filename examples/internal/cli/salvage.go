package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/result"
)

// salvage cuts a damaged journal back to the records before the damage, and keeps the damaged file under another name.
// A sound journal is left as it is.
func salvage(path string) error {
	run, bad := journal.Inspect(path)
	switch {
	case bad == nil:
		return nil
	case !run.Begun:
		return Usagef("--salvage: nothing can be kept: %w", bad)
	}
	switch used, err := journal.InUse(path); {
	case err != nil:
		return Usagef("--salvage: %w", err)
	case used:
		return Usagef("--salvage: a run has %s open", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".salvage-") // private, so that no other process writes there
	if err != nil {
		return &UsageError{Err: err}
	}
	defer os.RemoveAll(dir)
	sound := filepath.Join(dir, filepath.Base(path))
	records, damage, err := journal.Salvage(path, sound)
	if err != nil {
		return &UsageError{Err: err}
	}
	if _, stays := journal.Inspect(sound); stays != nil || damage == nil {
		return Usagef("--salvage: %w: its line is sound, so %s is left as it is", bad, path)
	}
	kept := unusedName(path)
	if err := keep(path, kept); err != nil {
		return fmt.Errorf("--salvage: %w", err)
	}
	if err := os.Rename(sound, path); err != nil { // a kill at any moment leaves a journal at path
		return errors.Join(fmt.Errorf("--salvage: %w", err), os.Remove(kept))
	}
	Printf("%v\n%s has the %d records before that, and what is lost is asked for again; the damaged file is %s\n",
		damage, path, records, kept)
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
	return result.SaveFile(kept, data)
}

// unusedName returns the path of a file that does not exist yet, in the journal's folder. It does not end in .journal,
// so nothing takes the damaged file for a journal.
func unusedName(path string) string {
	base := strings.TrimSuffix(path, ".journal") + ".damaged"
	name := base
	for k := 2; exists(name); k++ {
		name = fmt.Sprintf("%s%d", base, k)
	}
	return name
}
