package cli

import (
	"flag"
	"math"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// Search are the flags of one search.
type Search struct {
	Seed   uint32
	Window int
	Order  evolve.Order
	Distrust
	Noisy bool

	seed  uint64 // as given
	order string
}

// The values of --order.
const (
	byIndex   = "by-index"
	asTheyEnd = "as-they-end"
)

// Register adds the flags to fs.
func (s *Search) Register(fs *flag.FlagSet) {
	fs.Uint64Var(&s.seed, "seed", 40, "seed of the search, up to 2^32-1")
	RegisterWindow(fs, &s.Window)
	fs.BoolVar(&s.Noisy, "noisy", false,
		"the task may score a program differently each time\n"+
			"Programs are scored again, and the best is claimed on fresh samples (docs/guide.md).")
	fs.StringVar(&s.order, "order", byIndex,
		"with --window: in which order children are taken in: by-index, so that the run can be repeated; or "+
			"as-they-end, so that none waits for a slow one")
	s.Distrust.register(fs)
}

// RegisterWindow adds --window to fs.
func RegisterWindow(fs *flag.FlagSet, window *int) {
	fs.IntVar(window, "window", 0,
		"children of a search under way at once (default: all of a generation)\n"+
			"With fewer than --N a better child is the parent of those begun after it, so --T 1 --N 512 --window "+
			"64 is a steady-state search. The default of --breadth is then fixed.")
}

// Check checks the flags, and those of the breadth, whose default depends on them. last is the highest seed that --seed
// may be.
func (s *Search) Check(o *Options, last uint32) error {
	if err := o.CheckBreadth(s.Window > 0); err != nil {
		return err
	}
	if err := s.Distrust.check(); err != nil {
		return err
	}
	s.Seed = uint32(s.seed)
	switch {
	case s.seed > uint64(last):
		return Usagef("--seed is %d: need at most %d", s.seed, last)
	case s.Noisy && o.given["strict"]:
		return Usagef("--strict has no effect with --noisy, which keeps the older of two programs at a tie")
	case s.Window < 0:
		return Usagef("--window is %d: need 0 for all children of a generation, or more", s.Window)
	case s.order != byIndex && s.order != asTheyEnd:
		return Usagef("--order is %q: it is %s or %s", s.order, byIndex, asTheyEnd)
	case o.given["order"] && s.Window == 0:
		return Usagef("--order has no effect without --window")
	case s.order == asTheyEnd:
		s.Order = evolve.AsTheyEnd
	}
	return nil
}

// Fingerprint returns f with what the flags add to what decides a run. Without --noisy that is nothing, so that
// journals from before the flag still fit.
func (s *Search) Fingerprint(f journal.Fingerprint) journal.Fingerprint {
	if s.Noisy {
		f["noisy"] = "true"
	}
	return f
}

// Noise returns what a search does about noisy scores, nil without --noisy.
func (s *Search) Noise() *evolve.Noise {
	if !s.Noisy {
		return nil
	}
	return &evolve.Noise{}
}

// MaxSeed is the highest seed of a search.
const MaxSeed uint32 = math.MaxUint32
