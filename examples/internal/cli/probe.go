package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// probeBytes is the least room that a run needs for its journal to begin.
const probeBytes = 1 << 20

// checkRoom returns a [UsageError] if the journal's folder has no room, before anything is paid for.
func checkRoom(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".evoalloc-probe-")
	if err != nil {
		return Usagef("journal %s: %w", path, err)
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return Usagef("journal %s: there is no room for 1 MiB: %w; name a file on another disk by --journal FILE, or "+
			"another folder by --output", path, err)
	}
	return nil
}

// unsafe turns an error of a file system that keeps no promise of a journal into a [UsageError] with the remedies.
func unsafe(err error) error {
	if !errors.Is(err, journal.ErrUnsafe) {
		return err
	}
	return Usagef("%w; name a file on a local disk by --journal FILE, or give --journal-unsafe: then two processes may "+
		"damage the journal, and a machine that dies may lose its end", err)
}

// checkDescriptors returns a [UsageError] if fewer files may be open than the settings need: a connection of each call
// has one or two, an evaluation in a process of its own some twelve.
func (o *Options) checkDescriptors() error {
	need := 40 + 2*o.ParallelLLM
	if o.IsTree() || !o.BuiltIn() || o.Runtime == "python" {
		need += 12 * o.ParallelEval
	}
	if most := mostOpen(); most < uint64(need) {
		return Usagef("at most %d files may be open (ulimit -n), and these settings need some %d: raise that, or lower "+
			"--parallel-llm (%d) or --parallel-eval (%d)", most, need, o.ParallelLLM, o.ParallelEval)
	}
	return nil
}
