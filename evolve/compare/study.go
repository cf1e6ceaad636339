package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Config says what to compare.
type Config struct {
	Families []Family // at least one; names differ
	Searches []Search // at least one; names differ
	// Calls is the budget of every run; at least 1. At equal FLOPs it is how many rewrites of the initial program cost
	// the budget.
	Calls int
	// FLOPs compares at equal FLOPs and not at equal calls: a search that shows more, or writes more, makes fewer calls.
	// A call is only made if the most that it can cost is left, so runs end a little below the budget.
	FLOPs bool
	// Evaluations is the budget of every run in evaluations, in place of Calls; 0 means Calls. Searches of noisy families
	// differ in how many calls they leave for it.
	Evaluations int
	Seed        uint64 // of the first run of each family; the others have the seeds after it
	Runs        int    // of each search in each family; 0 means 30
	// Parallel is how many runs are made at once; 0 means one a processor.
	Parallel int
	// Skip reports whether a run was made before and must not be made again; nil means that none was.
	Skip func(family, search string, seed uint64) bool
	// OnRun is called with each run as it ends, on the caller's goroutine; nil: not called.
	OnRun func(Run)
}

func (c Config) withDefaults() Config {
	c.Runs = cmp.Or(c.Runs, 30)
	c.Parallel = cmp.Or(c.Parallel, runtime.GOMAXPROCS(0))
	if c.Skip == nil {
		c.Skip = func(string, string, uint64) bool { return false }
	}
	if c.OnRun == nil {
		c.OnRun = func(Run) {}
	}
	return c
}

func (c Config) validate() error {
	switch {
	case len(c.Families) == 0:
		return errors.New("compare: Config.Families is empty: need at least one")
	case len(c.Searches) == 0:
		return errors.New("compare: Config.Searches is empty: need at least one")
	case c.Calls < 1:
		return fmt.Errorf("compare: Config.Calls is %d: need at least 1", c.Calls)
	case c.Evaluations < 0 || c.Evaluations > 0 && c.FLOPs:
		return fmt.Errorf("compare: Config.Evaluations is %d: need 0 for a budget of calls, or more and no FLOPs",
			c.Evaluations)
	case c.Runs < 1:
		return fmt.Errorf("compare: Config.Runs is %d: need 0 for 30, or more", c.Runs)
	case c.Parallel < 1:
		return fmt.Errorf("compare: Config.Parallel is %d: need 0 for one a processor, or more", c.Parallel)
	}
	families, searches := map[string]bool{}, map[string]bool{}
	for _, f := range c.Families {
		if families[f.Name] {
			return fmt.Errorf("compare: two of Config.Families are named %q", f.Name)
		}
		families[f.Name] = true
	}
	for _, s := range c.Searches {
		if searches[s.Name] {
			return fmt.Errorf("compare: two of Config.Searches are named %q", s.Name)
		}
		searches[s.Name] = true
	}
	return nil
}

// Study makes every run that Skip does not know, and returns them by family, search and seed, in the order of cfg. Runs
// are paired: those of one family and seed have the same problem, whatever the search. A run does not depend on the
// others, nor on how many are made at once.
//
// If ctx ends, the error is ctx's and the runs are those that have ended. Any other error names the run that it ended,
// and ends the study.
func Study(ctx context.Context, cfg Config) ([]Run, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs, results := make(chan job), make(chan Run)
	var workers sync.WaitGroup
	for range cfg.Parallel {
		workers.Go(func() {
			for j := range jobs {
				run, err := j.run(ctx, cfg)
				if err != nil {
					cancel(err)
					continue // until there are no more jobs
				}
				results <- run
			}
		})
	}
	go func() {
		defer close(results)
		cfg.deal(ctx, jobs)
		workers.Wait()
	}()
	var runs []Run
	for run := range results {
		runs = append(runs, run)
		cfg.OnRun(run)
	}
	cfg.sort(runs)
	return runs, context.Cause(ctx)
}

// sort puts runs into the order of families, searches and seeds.
func (c Config) sort(runs []Run) {
	family, search := map[string]int{}, map[string]int{}
	for i, f := range c.Families {
		family[f.Name] = i
	}
	for i, s := range c.Searches {
		search[s.Name] = i
	}
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(family[a.Family]-family[b.Family], search[a.Search]-search[b.Search], cmp.Compare(a.Seed, b.Seed))
	})
}

// A job is a run to make.
type job struct {
	family Family
	search Search
	seed   uint64
}

// deal sends all jobs: by seed first, so that a study that is stopped has all searches on the seeds that it has.
func (c Config) deal(ctx context.Context, jobs chan<- job) {
	defer close(jobs)
	for i := range c.Runs {
		for _, f := range c.Families {
			for _, s := range c.Searches {
				seed := c.Seed + uint64(i)
				if c.Skip(f.Name, s.Name, seed) {
					continue
				}
				select {
				case jobs <- job{f, s, seed}:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}
