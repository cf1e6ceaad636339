package report

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/examples/internal/analyze"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// mostTabs is how many runs one file shows. A sweep has hundreds: its study shows them together.
const mostTabs = 24

// Endings of the files that are shown.
const (
	journalEnd = ".journal"
	resultEnd  = ".json"
)

// A builder collects what the page shows.
type builder struct {
	page  view.Page
	seen  map[string]bool // paths of runs without their ending, as a journal and a result may be of one run
	study []string        // paths of the folders whose studies are shown
	bases []string        // folders that programs may be changes of
	left  int             // runs that are more than mostTabs
	words []string        // what could not be shown, and why
}

// add adds the file or the folder at path.
func (b *builder) add(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cli.Usagef("report: %w", err)
	case info.IsDir():
		return b.addFolder(ctx, path)
	case !info.Mode().IsRegular():
		return cli.Usagef("report: %s: no regular file", path) // a pipe would be waited for
	}
	return b.addFile(ctx, path)
}

// addFile adds a file that was named. That it cannot be shown is an error.
func (b *builder) addFile(ctx context.Context, path string) error {
	var err error
	switch filepath.Ext(path) {
	case journalEnd:
		err = b.journal(ctx, path)
	case resultEnd:
		err = b.result(path)
	default:
		err = fmt.Errorf("report: %s: need a journal (%s) or a result (%s)", path, journalEnd, resultEnd)
	}
	if err != nil && ctx.Err() == nil {
		return &cli.UsageError{Err: err}
	}
	return err
}

// addFolder adds what a folder holds. What of it cannot be shown is said, and the rest is shown.
func (b *builder) addFolder(ctx context.Context, folder string) error {
	paths, err := walk(ctx, folder)
	if err != nil {
		return err
	}
	results := 0
	for _, path := range paths {
		if filepath.Ext(path) == resultEnd {
			results++
		}
		if err := b.addFile(ctx, path); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			b.words = append(b.words, fmt.Sprintf("not shown: %v", err))
		}
	}
	if results > 1 && b.compares(folder) {
		studies, err := analyze.Studies(ctx, folder)
		if err != nil {
			b.words = append(b.words, fmt.Sprintf("no study of %s: %v", folder, err))
		}
		b.page.Studies = append(b.page.Studies, studies...)
	}
	b.sayLeft(" of " + folder)
	return ctx.Err()
}

// sayLeft notes how many runs the page had no room for, and begins the count again. of names their folder.
func (b *builder) sayLeft(of string) {
	if b.left > 0 {
		b.words = append(b.words, fmt.Sprintf("%s%s not shown: a page has room for %d", count(b.left, "run"), of, mostTabs))
		b.left = 0
	}
}

// walk returns the files of a folder and below it that may be shown, journals before results, in order of name.
func walk(ctx context.Context, folder string) (paths []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		if slices.Contains([]string{journalEnd, resultEnd}, filepath.Ext(path)) {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return nil, cli.Usagef("report: %w", err)
	}
	slices.SortStableFunc(paths, func(x, y string) int {
		return cmp.Compare(order(x), order(y))
	})
	return paths, err
}

// order puts journals first: of a run that has both, the journal tells more.
func order(path string) int {
	if filepath.Ext(path) == journalEnd {
		return 0
	}
	return 1
}

// journal adds the run of a journal. If the file is damaged, what stands before that is shown, and the damage is said.
func (b *builder) journal(ctx context.Context, path string) error {
	if !b.room(path) {
		return nil
	}
	run, err := view.ReadJournal(ctx, path, name(path), b.bases...)
	switch {
	case err != nil && run.Name == "":
		delete(b.seen, base(path)) // a result may be shown in its place
		return fmt.Errorf("report: %w", err)
	case err != nil:
		b.words = append(b.words, fmt.Sprintf("shown up to the damage: %v", err))
	}
	b.page.Runs = append(b.page.Runs, run)
	return nil
}

// result adds the run of a result file, unless its journal is shown.
func (b *builder) result(path string) error {
	if !b.room(path) {
		return nil
	}
	run, err := view.ReadResult(path, name(path))
	if err != nil {
		delete(b.seen, base(path)) // what was left before the run was over may be shown in its place
		return fmt.Errorf("report: %w", err)
	}
	if journal := strings.TrimSuffix(path, resultEnd) + journalEnd; exists(journal) {
		b.words = append(b.words,
			fmt.Sprintf("%s has no programs: a report of %s shows them, and what each step changed", path, journal))
	}
	b.page.Runs = append(b.page.Runs, run)
	return nil
}

// exists reports whether there is a file at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// room reports whether the run at path is one more tab: it is not shown yet, and there are not too many.
func (b *builder) room(path string) bool {
	run := base(path)
	if b.seen[run] {
		return false
	}
	b.seen[run] = true
	if len(b.page.Runs) >= mostTabs {
		b.left++
		return false
	}
	return true
}

// compares reports whether the study of the folder at path is not shown yet.
func (b *builder) compares(path string) bool {
	path = filepath.Clean(path)
	if slices.Contains(b.study, path) {
		return false
	}
	b.study = append(b.study, path)
	return true
}

// base returns the path of a run's files without their endings.
func base(path string) string {
	// results/x and ./results/x are one run
	path = filepath.Clean(path)
	return strings.TrimSuffix(strings.TrimSuffix(path, filepath.Ext(path)), ".partial") // of a run that is not over
}

// name returns how the page calls a file.
func name(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// save writes the page to path. If it cannot be written whole, the file that was there stays.
func (b *builder) save(path string) error {
	b.page.Title = "evoalloc"
	if len(b.page.Runs) == 1 {
		b.page.Title = b.page.Runs[0].Name
	}
	var page bytes.Buffer
	if err := view.Report(&page, b.page); err != nil {
		return err
	}
	if err := result.SaveFile(path, page.Bytes()); err != nil {
		if unwritten := (*fs.PathError)(nil); errors.As(err, &unwritten) {
			return &cli.UsageError{Err: err}
		}
		return err
	}
	return nil
}

// count returns a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
