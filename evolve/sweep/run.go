package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// complete makes or resumes a run, and writes its files if it is over. It returns nil without an error if the run
// stopped before its end. Of the mutable parts of s it uses only observe.
func (s *sweep) complete(ctx context.Context, r Trial) (f *finished, err error) {
	path := filepath.Join(s.cfg.Dir, r.Path(".journal"))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("sweep: run %s: %w", r, err)
	}
	earlier, _ := journal.Inspect(path) // what is wrong with the file, Open says
	fingerprint := fitted(earlier.Fingerprint, s.plan.fingerprint(r))
	j, err := journal.Open(path, journal.Config{Fingerprint: fingerprint, Resume: true, Command: s.cfg.Command})
	if err != nil {
		return nil, failed(r, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	list, cfg, err := s.searches(r)
	if err != nil {
		return nil, failed(r, err)
	}
	cfg.Journal = j
	res, err := evolve.Run(ctx, cfg)
	if err != nil {
		return nil, failed(r, err)
	}
	if !over(res) {
		s.observe(s.progress(EventPause, r, res))
		return nil, nil
	}
	spec := s.plan.Models[r.of.model].Spec
	f = &finished{Fingerprint: fingerprint, Stop: res.Stop, Limit: res.Limit, Rows: rows(res, spec),
		Again: len(res.Earlier.Lost) + len(res.Earlier.Abandoned) + len(res.Earlier.Unclaimed)}
	if err := result.Save(filepath.Join(s.cfg.Dir, r.Path(".json")), r.report(res, list, spec)); err != nil {
		return nil, failed(r, err)
	}
	return f, f.write(filepath.Join(s.cfg.Dir, r.Path(".done")))
}

// failed adds the run to err, and advice on a journal of another run.
func failed(r Trial, err error) error {
	if errors.Is(err, journal.ErrDiverged) {
		return fmt.Errorf("%w: run %s: %w; restore the settings, or sweep in another folder", ErrOther, r, err)
	}
	return fmt.Errorf("sweep: run %s: %w", r, err)
}

// over reports whether a run is finished. A run ended by too many stalls can be resumed with a larger Config.Stalls.
func over(r *evolve.Result) bool {
	return r.Stop == evolve.StopExhausted || r.Stop == evolve.StopBudget && r.Limit == "Calls"
}

// searches returns the arms of r, and the configuration of its run without the journal.
func (s *sweep) searches(r Trial) (Searches, evolve.Config, error) {
	m := s.plan.Methods[r.of.method]
	setup := Setup{Task: s.tasks[r.of.task], LLM: s.models[r.of.model].LLM, T: r.T, N: r.N, Seed: r.Seed}
	list, err := guarded(m, setup)
	switch {
	case err != nil:
		return list, evolve.Config{}, err
	case len(list.Arms) != r.Arms:
		return list, evolve.Config{}, fmt.Errorf("its method made %d searches: Method.Arms is %d", len(list.Arms), r.Arms)
	case list.Seeds != nil && len(list.Seeds) != r.Arms:
		return list, evolve.Config{}, fmt.Errorf("its method gave %d seeds for %d searches", len(list.Seeds), r.Arms)
	}
	for i := range list.Arms {
		if len(list.Seeds) <= i && r.Arms > 1 {
			list.Seeds = append(list.Seeds, setup.ArmSeed(i))
		}
	}
	return list, evolve.Config{
		Arms: list.Arms, Policy: list.Policy, InFlight: m.InFlight, Seed: uint64(r.Seed), Reward: evolve.RawScore,
		Budget: evolve.Budget{Calls: r.Calls(), Stalls: s.cfg.Stalls, Models: []llm.Model{s.models[r.of.model].Spec}},
		Grace:  s.cfg.Grace, ValidStart: true, Observer: s.follow(r),
	}, nil
}

// guarded returns the searches that m makes. A panic in m becomes an error, like one in the searches, so that other
// runs do not lose what they paid for.
func guarded(m Method, s Setup) (list Searches, err error) {
	if bad := step.Guard("New of method "+m.Name, func() { list, err = m.New(s) }); bad != nil {
		err = bad
	}
	return list, err
}

// follow returns an observer of a run that reports each generation to the sweep's.
func (s *sweep) follow(r Trial) func(evolve.Event) {
	var sum row
	spec := s.plan.Models[r.of.model].Spec
	return func(e evolve.Event) {
		if e.Kind != evolve.EventGeneration {
			return
		}
		for attempts := range e.Generation.EachCall {
			sum.add(attempts, spec)
		}
		s.observe(Event{Kind: EventGeneration, Run: r, Calls: sum.Calls, Cost: sum.Cost, Best: e.Best.Result.Score})
	}
}

// progress returns an event with a run's sums so far.
func (s *sweep) progress(kind EventKind, r Trial, result *evolve.Result) Event {
	all := rows(result, s.plan.Models[r.of.model].Spec)
	last := all[len(all)-1]
	return Event{Kind: kind, Run: r, Calls: last.Calls, Cost: last.Cost, Best: last.Best, Limit: result.Limit}
}

// report returns the result in the paper's form.
func (r Trial) report(result *evolve.Result, list Searches, spec llm.Model) any {
	header := r.header(spec)
	if r.Arms == 1 {
		return report.NewGreedy(result, header, r.Seed)
	}
	return report.NewBandit(result, report.BanditHeader{Header: header, Algo: r.Method, Policy: fmt.Sprint(list.Policy),
		BanditSeed: uint64(r.Seed), ArmSeeds: list.Seeds})
}
