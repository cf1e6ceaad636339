package analyze

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// A file is a result file and its contents.
type file struct {
	analysis.Curve
	spent
}

// readFolder reads the results in and below a folder, in order of their names. It skips other JSON files and results of
// unfinished runs; skipped says why.
func readFolder(ctx context.Context, folder string) (files []file, skipped []string, err error) {
	var paths []string
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() || filepath.Ext(path) != ".json" || strings.HasPrefix(d.Name(), "."):
			return nil
		case strings.HasSuffix(path, ".partial.json"):
			skipped = append(skipped, fmt.Sprintf("%s: the run is not over", path))
			return nil
		}
		paths = append(paths, path)
		return nil
	})
	if err == nil {
		var earlier []string
		paths, earlier = withoutEarlier(paths)
		skipped = append(skipped, earlier...)
		var wrong []string
		files, wrong, err = readAll(ctx, paths)
		skipped = append(skipped, wrong...)
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, cli.Usagef("analyze: %w", err)
	case len(files) == 0:
		return nil, nil, cli.Usagef("analyze: %s: no results among %s there; evoalloc greedy and evoalloc bandit make some",
			folder, count(len(skipped), "JSON file"))
	}
	return files, skipped, nil
}

// withoutEarlier leaves out the results of earlier runs that were kept under a number, NAME.1.json beside NAME.json,
// and says which: one seed would count several times.
func withoutEarlier(paths []string) (kept, skipped []string) {
	for _, path := range paths {
		base := strings.TrimSuffix(path, ".json")
		number := strings.TrimPrefix(filepath.Ext(base), ".")
		later := strings.TrimSuffix(base, "."+number) + ".json"
		if _, err := strconv.ParseUint(number, 10, 32); err == nil && slices.Contains(paths, later) {
			skipped = append(skipped, fmt.Sprintf("%s: an earlier run of the name %s", path, filepath.Base(later)))
			continue
		}
		kept = append(kept, path)
	}
	return kept, skipped
}

// readAll reads files concurrently, and keeps their order. wrong says which are not results.
func readAll(ctx context.Context, paths []string) (files []file, wrong []string, err error) {
	read, errs := make([]file, len(paths)), make([]error, len(paths))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		group.Go(func() error {
			read[i], errs[i] = readFile(path)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for i, err := range errs {
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", paths[i], err))
			continue
		}
		files = append(files, read[i])
	}
	return files, wrong, nil
}

func readFile(path string) (file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, errors.New("no regular file") // a pipe would be waited for
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	f, err := parse(b)
	f.From = path
	return f, err
}

// parse reads a result.
func parse(b []byte) (file, error) {
	f, err := result.Read(bytes.NewReader(b))
	if err != nil {
		return file{}, fmt.Errorf("analysis: %w", err)
	}
	r, err := analysis.Of(f)
	if err != nil {
		return file{}, err
	}
	return file{r, readSpent(f)}, nil
}

// count returns a number with its noun: "1 file", "2 files".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
