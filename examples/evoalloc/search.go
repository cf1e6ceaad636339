package main

import (
	"context"
	"maps"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// A search is a run of one search, or of a bandit over several. The commands greedy, bandit and populations differ in
// these fields.
type search struct {
	*cli.Options
	standIn offline.Config // of the offline model
	// guard wraps the task's evaluator for the run; nil means no wrapper.
	guard func(task.Task, eval.Evaluator) eval.Evaluator
	// tries prepares what scores the tries of agents, under the limit on evaluations; nil means no agents.
	tries func(ctx context.Context, t task.Task, limit func(eval.Evaluator) eval.Evaluator) error
	arms  func(t task.Task, who cli.Proposing) ([]evolve.Arm, error)
	audit func(t task.Task) (*evolve.Audit, error) // nil means none
	// decides returns what decides the run besides the task, the model and the flags of all searches.
	decides func(arms []evolve.Arm) journal.Fingerprint
	kind    string // of one search, for its result; "" means greedy
	seed    uint32 // of one search
	algo    string // the policy over the arms; "" if there is one arm
	// allocates is nil for one search.
	allocates *allocation
	plain     bool // the seeds of allocates follow each other, and its policy has raw scores
	ties      bool // a child that scores as its parent takes its place, unless --strict says otherwise
	// budget has this command's own limits.
	budget evolve.Budget
	// head is the head of the lines that row returns for generations.
	head string
	row  func(evolve.Event) string
	// tables prints this command's part of the summary, before the common part.
	tables func(r *evolve.Result, searches []result.Search)
}

// An allocation is a bandit over searches.
type allocation struct {
	seed     uint64
	seeds    []uint32 // of the searches; deriveSeeds may write others into it
	kinds    []string // of the searches; nil means that all are greedy
	inFlight int
}

// run opens the model, the task and the evaluator, and makes the run.
func (s search) run(ctx context.Context) error {
	cli.OutlivePipes()
	// The model first, since mistakes in its flags are cheap to find.
	spec, who, err := open.Model(s.Options, s.standIn)
	if err != nil {
		return err
	}
	t, end, err := open.Task(ctx, s.Options)
	if err != nil {
		return err
	}
	defer end()
	if s.KeepSampling(s.form(t, spec, nil, nil).path()) {
		if spec, who, err = open.Model(s.Options, s.standIn); err != nil {
			return err
		}
	}
	limit := llm.Limit(who.LLM, s.ParallelLLM).(interface{ Around(llm.LLM) llm.LLM }) // of all models together
	who = who.Under(func(l llm.LLM) llm.LLM {
		return llm.Retry(limit.Around(l), llm.RetryConfig{Outage: s.Outage, Notice: cli.Notice})
	})
	scorer, leave, err := remote.Evaluator(ctx, s.Options, t) // the task itself, unless workers score (--nats)
	if err != nil {
		return err
	}
	defer leave()
	scorer = eval.Limit(scorer, s.ParallelEval)
	if s.tries != nil {
		limit := scorer.(interface {
			Around(eval.Evaluator) eval.Evaluator
		}).Around
		if err := s.tries(ctx, t, limit); err != nil {
			return err
		}
	}
	if s.guard != nil {
		scorer = s.guard(t, scorer)
	}
	return s.runTask(ctx, spec, who, task.WithEvaluator(t, scorer))
}

// runTask makes the run of a task by who proposes, saves its result and prints a summary.
func (s search) runTask(ctx context.Context, spec llm.Model, who cli.Proposing, t task.Task) error {
	asked, err := s.Models(spec)
	if err != nil {
		return err
	}
	path := s.form(t, spec, asked, nil).path()
	s.KeepRules(path)
	decides := s.decides(nil)
	s.DecidedBy(decides, spec, asked)
	s.deriveSeeds(path, t, decides)
	arms, err := s.arms(t, who)
	if err != nil {
		return err
	}
	var audit *evolve.Audit
	if s.audit != nil {
		if audit, err = s.audit(t); err != nil {
			return err
		}
	}
	budget, err := s.Budget(asked)
	if err != nil {
		return err
	}
	budget.RoundsPerArm, budget.TuneEvaluations = s.budget.RoundsPerArm, s.budget.TuneEvaluations
	s.budget = budget
	maps.Copy(decides, s.decides(arms))
	policy, err := s.policy(path, t, decides)
	if err != nil {
		return err
	}
	f := s.form(t, spec, asked, policy)
	f.keeps(s.Strict || !s.ties)
	if err := s.CheckBudget(t, budget); err != nil {
		return err
	}
	files, err := s.Open(path, t, decides)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := s.LimitGiven(files.Journal); err != nil {
		return err
	}
	result, err := s.advance(ctx, arms, policy, audit, files.Journal)
	reached := result != nil && result.Stop == evolve.StopTarget // perhaps by the initial program
	if result == nil || len(result.Rounds) == 0 && !reached {
		return files.Unused(result, err)
	}
	file := f.report(result)
	if s.tables != nil {
		s.tables(result, file.searches)
	}
	s.Summarize(who.LLM, asked, result, file.cost, file.ledgers)
	cli.PrintAudits(file.searches...)
	return files.Finish(ctx, cli.Saved{Body: file.body, HeldOut: file.heldOut, Model: spec}, result, err)
}

// policy returns the policy over the arms, nil for one arm.
func (s search) policy(path string, t task.Task, decides journal.Fingerprint) (bandit.Policy, error) {
	if s.algo == "" {
		return nil, nil
	}
	policy, err := cli.Policy(s.algo, s.KeepHorizon(path, t, decides))
	if err == nil && !s.plain {
		policy = bandit.Rescale(policy) // as Run does, so that the result names it so
	}
	return policy, err
}

// deriveSeeds derives the searches' seeds from the first one's, so that runs with neighboring seeds have no search in
// common, unless the run is plain: strict, or resumed from a journal that was begun so. It adds to decides.
func (s *search) deriveSeeds(path string, t task.Task, decides journal.Fingerprint) {
	a := s.allocates
	if s.plain = a == nil || s.KeepArms(path, t, decides); s.plain {
		return
	}
	decides[cli.ArmSeeds] = "derived"
	for i, base := 0, a.seeds[0]; i < len(a.seeds); i++ {
		a.seeds[i] = evolve.ArmSeed(base, i)
	}
}

// advance advances the arms, limited by the budget and kept in the journal.
func (s search) advance(
	ctx context.Context, arms []evolve.Arm, policy bandit.Policy, audit *evolve.Audit, j *journal.Journal,
) (*evolve.Result, error) {
	progress := s.NewProgress(ctx, s.head, s.row)
	defer progress.Close()
	cfg := evolve.Config{
		Arms: arms, Policy: policy, Budget: s.budget, Grace: s.Grace, ValidStart: true, Audit: audit, Journal: j,
		Observer: progress.Observe,
	}
	if s.allocates != nil {
		cfg.InFlight, cfg.Seed = s.allocates.inFlight, s.allocates.seed
	}
	if s.plain {
		cfg.Reward = evolve.RawScore
	}
	return evolve.Run(ctx, cfg)
}
