package bank

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// A file is the bank on disk. One goroutine at a time uses it.
type file struct {
	o    *options
	bank sim.Bank
}

// openFile reads the file that the flags name, if there is one, so that its searches are not made again. One that
// holds other searches than the flags ask for is left as it is, and that is a [cli.UsageError]. So is a path that
// cannot be written to.
func openFile(o *options) (*file, error) {
	f := &file{o: o, bank: sim.Bank{Task: o.task, N: o.n, Made: o.made()}}
	old, err := sim.ReadBankFile(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, cli.Usagef("--out: %w", err)
	default:
		if err := f.resume(old); err != nil {
			return nil, cli.Usagef("--out %s: %w; name another file", o.path, err)
		}
	}
	if err := report.CheckWritable(o.path); err != nil {
		return nil, cli.Usagef("--out: %w", err)
	}
	return f, nil
}

// resume takes over the searches of old.
func (f *file) resume(old *sim.Bank) error {
	switch b := f.bank; {
	case old.Task != b.Task || old.N != b.N:
		return fmt.Errorf("it has searches of %s with N=%d, not of %s with N=%d", old.Task, old.N, b.Task, b.N)
	case old.Made != b.Made:
		return fmt.Errorf("its searches were made by %q, not by %q", old.Made, b.Made)
	}
	for _, s := range old.Searches {
		if s.Generations != f.o.rounds {
			return fmt.Errorf("it has a search of %d generations, not of %d", s.Generations, f.o.rounds)
		}
	}
	f.bank.Searches = old.Searches
	return nil
}

// missing returns the seeds of the searches that the flags ask for and the file lacks.
func (f *file) missing() []uint32 {
	var seeds []uint32
	for i := range uint64(f.o.searches) {
		seed := f.o.seed + i
		if !slices.ContainsFunc(f.bank.Searches, func(s sim.Recorded) bool { return s.Seed == seed }) {
			seeds = append(seeds, uint32(seed))
		}
	}
	return seeds
}

// add puts a search in its place by seed and saves the file. The order does not depend on which search ends
// first.
func (f *file) add(s sim.Recorded) error {
	at, _ := slices.BinarySearchFunc(f.bank.Searches, s,
		func(a, b sim.Recorded) int { return cmp.Compare(a.Seed, b.Seed) })
	f.bank.Searches = slices.Insert(f.bank.Searches, at, s)
	var text bytes.Buffer
	if err := f.bank.Write(&text); err != nil {
		return err
	}
	return report.SaveFile(f.o.path, text.Bytes())
}
