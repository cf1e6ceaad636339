package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// makeRoom renames the files that an earlier run left under the names of a new run, so that nothing paid for is
// overwritten. begins is false if this run resumes the earlier one. An unfinished or unsaved earlier run is left alone,
// which is a [UsageError], unless --anew is given. It is also a UsageError if --resume finds nothing to resume. decided
// is what decides the new run.
func (o *Options) makeRoom(path string, s saver, decided journal.Fingerprint) (moved []renamed, begins bool,
	err error) {
	_, err = os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if o.Resume {
			if earlier := o.shorter(path, decided); earlier != "" {
				return nil, false, o.goOnIn(path, earlier)
			}
			if !o.auto {
				return nil, false, o.nothingAt(path)
			}
		}
		moved, err = s.aside("")
		return moved, true, err
	case err != nil:
		return nil, false, &UsageError{err}
	}
	if err := isJournal(path); err != nil {
		return nil, false, err
	}
	switch {
	case o.Resume && o.salvage:
		return nil, false, salvage(path)
	case o.Resume:
		return nil, false, nil
	case !o.Anew:
		if err := o.over(path, s, decided); err != nil {
			return nil, false, err
		}
	}
	if err := unused(path); err != nil {
		return nil, false, err
	}
	moved, err = s.aside(path)
	return moved, true, err
}

// shorter returns the longest journal beside path of a run that a smaller --T ended and that is the one decided
// otherwise, or "".
func (o *Options) shorter(path string, decided journal.Fingerprint) (found string) {
	if o.Journal != "" {
		return ""
	}
	most := int64(0)
	for _, name := range journalsIn(filepath.Dir(path), false) {
		run, err := journal.Inspect(name)
		if err != nil || !run.Finished || differences(run.Fingerprint, decided) != "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Size() > most {
			found, most = name, info.Size()
		}
	}
	return found
}

// goOnIn copies a journal to path, in which its run goes on with more calls.
func (o *Options) goOnIn(path, journal string) error {
	if err := unused(journal); err != nil {
		return err
	}
	data, err := os.ReadFile(journal)
	if err == nil {
		err = result.SaveFile(path, data)
	}
	if err == nil {
		o.copied = path
		Printf("goes on with a copy of %s\n", journal)
	}
	return err
}

// mostNamed bounds the journals that an error names.
const mostNamed = 5

// nothingAt returns the error of --resume without a journal at path. It names other journals there, with their
// commands.
func (o *Options) nothingAt(path string) error {
	found := journalsIn(filepath.Dir(path), false)
	if len(found) == 0 && o.Journal == "" {
		found = journalsIn(o.Output, true)
	}
	there := "there is none beside it"
	if o.Journal == "" {
		there = fmt.Sprintf("there is none below %s", o.Output)
	}
	if n := len(found); n > 0 {
		var list []string
		for _, name := range found[:min(n, mostNamed)] {
			list = append(list, name+begunBy(name))
		}
		there = "there is " + strings.Join(list, ", and ")
		if n > mostNamed {
			there += fmt.Sprintf(", and %d more", n-mostNamed)
		}
	}
	return Usagef("--resume: no run with these flags was begun, as there is no journal %s; %s; to begin the run: %s",
		path, there, o.again(""))
}

// journalsIn returns the journals in a folder, and with deep in folders below it, the latest first.
func journalsIn(dir string, deep bool) (paths []string) {
	changed := map[string]time.Time{}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // an unreadable folder holds no journal that could be resumed
		case d.IsDir() && path != dir && !deep:
			return fs.SkipDir
		case !d.Type().IsRegular() || filepath.Ext(path) != ".journal":
			return nil
		}
		if info, err := d.Info(); err == nil {
			paths = append(paths, path)
			changed[path] = info.ModTime()
		}
		return nil
	})
	slices.SortStableFunc(paths, func(a, b string) int { return changed[b].Compare(changed[a]) })
	return paths
}

// begunBy returns in brackets the command of the run in a journal, or "" if the journal lacks it.
func begunBy(path string) string {
	if s, _ := journal.Inspect(path); s.Command != "" { // also one that is damaged later
		return " (" + s.Command + ")"
	}
	return ""
}

// over returns nil if journal, which no flag names, holds a finished run whose result is saved, and otherwise an error
// with the commands to resume it or to begin anew.
func (o *Options) over(path string, s saver, decided journal.Fingerprint) error {
	run, err := journal.Inspect(path)
	anew := "to begin anew and keep its files under other names: " + o.again("anew")
	var why string
	switch {
	case err != nil:
		return Usagef("%w; %s", err, anew)
	case run.Finished && exists(s.path) && o.Journal == "":
		return nil
	case run.Begun && differences(run.Fingerprint, decided) != "":
		return Usagef("journal %s tells of another run: %s; put that back to go on with it; %s", path,
			differences(run.Fingerprint, decided), anew)
	case run.Finished && !hasRounds(path):
		return Usagef("journal %s tells of a run that ended before its search began, and has no result; %s", path, anew)
	case !run.Finished:
		why = "tells of a run that is not over; to go on with it"
	case !exists(s.path):
		why = "tells of a run whose result is not saved; to save it"
	default:
		why = "tells of a run that is over; to see its result"
	}
	return Usagef("journal %s %s: %s; %s", path, why, o.again("resume"), anew)
}

// hasRounds reports whether the run of a journal drew a search, or ended otherwise than by its budget before it could.
func hasRounds(path string) bool {
	run, err := history.Read(path)
	return err != nil || len(run.Rounds) > 0 || run.Stop != string(evolve.StopBudget)
}

// isJournal returns an error unless path is a journal, or one that a kill cut short within its first record. Nothing
// else is resumed or renamed.
func isJournal(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &UsageError{err}
	case info.IsDir():
		return Usagef("journal %s is a directory: a journal is a file", path)
	case !info.Mode().IsRegular():
		return Usagef("journal %s is no regular file", path)
	}
	run, err := journal.Inspect(path)
	switch unread := (*fs.PathError)(nil); {
	case run.Begun:
		return nil
	case errors.As(err, &unread):
		return &UsageError{err}
	case err != nil:
		return Usagef("%s is no journal, or its first line is damaged; it is left as it is", path)
	}
	return unused(path)
}

// unused returns an error if another process has the journal open.
func unused(path string) error {
	l, _, err := wal.Open(path, func(wal.Entry) error { return nil })
	if errors.Is(err, wal.ErrLocked) {
		return locked(path, err)
	}
	if err != nil {
		return nil // a damaged journal can be renamed
	}
	return l.Close()
}

// locked turns an error of opening a journal into a [UsageError] if another process has it open, with advice on finding
// that process.
func locked(path string, err error) error {
	if !errors.Is(err, wal.ErrLocked) {
		return err
	}
	return Usagef("journal %s: %w: a run that still goes on, perhaps one whose \"go run\" was killed, which leaves the "+
		"program running (fuser or lsof tells its pid)", path, wal.ErrLocked)
}

// A renamed is a file's old and new name.
type renamed struct{ from, to string }

// aside renames the files of an earlier run under the name NAME of s, NAME.json and the like, to NAME.1.json and the
// like, or the next number, and so the journal at path if it is not "", with the answers for held-out cases, which its
// run goes on with. It renames the journal last, so that a kill in between leaves the journal in place.
func (s saver) aside(path string) (moved []renamed, err error) {
	left, next, err := leftBy(s.base())
	if err != nil {
		return nil, err
	}
	kept := s.base() + heldOutEnding
	journal, _ := os.Stat(path) // nil if there is none
	left = slices.DeleteFunc(left, func(name string) bool {
		info, err := os.Stat(name)
		return name == kept || err == nil && os.SameFile(info, journal)
	})
	if path != "" {
		if exists(kept) {
			left = append(left, kept)
		}
		left = append(left, path)
	}
	return s.rename(left, next)
}

// rename inserts a number into the names of files: k, or the first one above it that is free.
func (s saver) rename(left []string, k int) (moved []renamed, err error) {
	if len(left) == 0 {
		return nil, nil
	}
	base := s.base()
	for slices.ContainsFunc(left, func(name string) bool { return exists(numbered(base, name, k)) }) {
		k++ // a journal may be elsewhere
	}
	Printf("an earlier run is kept under other names:\n")
	for _, name := range left {
		to := numbered(base, name, k)
		if err := os.Rename(name, to); err != nil {
			return moved, err
		}
		Printf("  %s\n", to)
		moved = append(moved, renamed{name, to})
	}
	return moved, nil
}

// restore restores the old names, the last renamed first.
func restore(moved []renamed) error {
	if len(moved) > 0 {
		Printf("the earlier run has its names back\n")
	}
	var errs []error
	for _, m := range slices.Backward(moved) {
		errs = append(errs, os.Rename(m.to, m.from))
	}
	return errors.Join(errs...)
}

// leftBy returns the result and program files of a run named base, whole or partial, without its journal and numbered
// files; and the number after the highest in use.
func leftBy(base string) (left []string, next int, err error) {
	entries, err := os.ReadDir(filepath.Dir(base))
	next = 1
	for _, e := range entries {
		ending, found := strings.CutPrefix(e.Name(), filepath.Base(base)+".")
		if !found || !e.Type().IsRegular() {
			continue
		}
		first, _, _ := strings.Cut(ending, ".")
		if k, err := strconv.Atoi(first); err == nil {
			next = max(next, k+1)
		} else if ending != "journal" {
			left = append(left, base+"."+ending)
		}
	}
	return left, next, err
}

// numbered inserts k before the endings of a file of the run named base, or before the last ending of a file with
// another name.
func numbered(base, name string, k int) string {
	if !strings.HasPrefix(name, base+".") {
		base = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return fmt.Sprintf("%s.%d%s", base, k, strings.TrimPrefix(name, base))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
