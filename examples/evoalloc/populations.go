package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/examples/internal/standin"
	"github.com/evoalloc/evoalloc/task"
)

// The defaults of --like, for one search and for a portfolio of dissimilar searches.
const (
	defaultLike      = "softmax"
	defaultPortfolio = "greedy,softmax,llm-evo,openevolve"
)

// populationsOptions are the flags of the command populations.
type populationsOptions struct {
	cli.Options
	cli.Search
	like       []peers.Peer // one search, or the arms of a portfolio
	portfolio  bool
	list       bool
	policy     string
	banditSeed uint64
	tune       int // tune evaluations; 0 means no tuning
	agent      agentFlags
}

// parsePopulations reads the flags.
func parsePopulations(args []string) (*populationsOptions, error) {
	var p populationsOptions
	fs := cli.NewFlags("populations",
		"[flags]: evolve a program with a search that keeps many, or with a bandit over several such searches",
		"like", "portfolio", "task", "model", "api-base", "T", "N", "seed", "budget-usd", "target",
		"resume", "output", "watch", "config")
	p.Options.Register(fs)
	p.Search.Register(fs)
	like := fs.String("like", "",
		"the search, by its `name` (default: "+defaultLike+"; with --portfolio "+defaultPortfolio+")\n"+
			"The names, which --like list explains, are "+strings.Join(peers.Names(), ", ")+". With --portfolio give "+
			"several, separated by commas.")
	fs.BoolVar(&p.portfolio, "portfolio", false,
		"run several searches as the arms of a bandit, which finds out which to go on with\n"+
			"The seed of each is derived from --seed.")
	fs.StringVar(&p.policy, "policy", "ei",
		"with --portfolio: the bandit's policy: "+strings.Join(cli.PolicyKeys(), ", "))
	fs.IntVar(&p.tune, "tune", 0,
		"tune the numbers of programs without a model, in this many tune evaluations beside the calls")
	p.agent.register(fs)
	fs.Uint64Var(&p.banditSeed, "bandit-seed", 0, "with --portfolio: seed of the policy's draws")
	fs.Lookup("eval-timeout").Usage += fmt.Sprintf("; %v, of which %v of a processor, for the programs of "+
		"the offline model in JavaScript, some of which never end", standInEvalTimeout, standInCPU)
	if err := p.Parse(fs, args); err != nil {
		return nil, err
	}
	p.limitStandIn()
	if err := p.checkPortfolio(); err != nil {
		return nil, err
	}
	if p.list = *like == "list"; p.list {
		return &p, nil
	}
	names := cmp.Or(*like, defaultLike)
	if p.portfolio {
		names = cmp.Or(*like, defaultPortfolio)
	}
	if err := p.choose(strings.Split(names, ",")); err != nil {
		return nil, err
	}
	if err := p.Check(&p.Options, cli.MaxSeed-uint32(len(p.like)-1)); err != nil {
		return nil, err
	}
	return &p, nil
}

// Limits of wall and processor time for evaluating a program of the stand-in model. Of its crossed programs one in nine
// never ends, and would take the whole limit for real models' programs. Others of the built-in tasks take some
// milliseconds, at most 0.1 s.
const (
	standInEvalTimeout = time.Second
	standInCPU         = 250 * time.Millisecond
)

// limitStandIn sets these limits unless flags set others or workers have their own.
func (p *populationsOptions) limitStandIn() {
	if p.BuiltIn() && p.Offline() && p.Runtime == "js" && p.NATS.URL == "" && !p.Given("eval-timeout") {
		p.EvalTimeout, p.EvalCPU = standInEvalTimeout, standInCPU
	}
}

// checkPortfolio checks the flags for the bandit.
func (p *populationsOptions) checkPortfolio() error {
	for _, name := range []string{"policy", "bandit-seed"} {
		if !p.portfolio && p.Given(name) {
			return cli.Usagef("--%s has no effect without --portfolio", name)
		}
	}
	switch {
	case p.tune < 0:
		return cli.Usagef("--tune is %d: need 0 for none, or more", p.tune)
	case p.tune > 0 && p.agent.only:
		return cli.Usagef("--tune has no effect with --agent-only, which makes all children by sessions")
	}
	if err := p.agent.check(&p.Options); err != nil {
		return err
	}
	return cli.CheckPolicy(p.policy)
}

// choose looks the searches up by their names.
func (p *populationsOptions) choose(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		peer, err := peers.Named(strings.TrimSpace(name))
		switch {
		case err != nil:
			return cli.Usagef("--like: %w", err)
		case seen[peer.Name]:
			return cli.Usagef("--like names %s twice: name each search once", peer.Name)
		}
		seen[peer.Name] = true
		p.like = append(p.like, peer)
	}
	if p.Given("strict") && !slices.ContainsFunc(p.like, func(l peers.Peer) bool { return !ownTies(l) }) {
		return cli.Usagef("--strict has no effect on %s: only softmax and greedy take ties", strings.Join(names, ", "))
	}
	p.Minibatches = !slices.ContainsFunc(p.like, func(l peers.Peer) bool { return l.Name != "gepa" })
	if n := len(p.like); n > 1 != p.portfolio {
		return cli.Usagef("--like names %s: need one, or with --portfolio several", cli.Count(n, "search", "searches"))
	}
	return nil
}

// ownTies reports whether a search decides ties by a rule of its own.
func ownTies(p peers.Peer) bool { return p.Name != "softmax" && p.Name != "greedy" }

// runPopulations evolves one program with a search that keeps many: by default with two operators under a bandit, with
// --like NAME in the manner of another system, and with --portfolio with several such searches as the arms of a bandit.
func runPopulations(ctx context.Context, args []string) error {
	p, err := parsePopulations(args)
	if err != nil {
		return err
	}
	if p.list {
		for _, peer := range peers.Peers() {
			cli.Printf("%-13s %s\n", peer.Name, peer.Summary)
		}
		return nil
	}
	var kinds []string
	var seeds []uint32
	for i, peer := range p.like {
		kinds, seeds = append(kinds, peer.Name), append(seeds, p.Seed+uint32(i))
	}
	standIn := standin.All()
	s := search{
		Options: &p.Options, standIn: standIn.Config(), guard: p.Guarded, audit: p.Audit,
		arms: func(t task.Task, who cli.Proposing) ([]evolve.Arm, error) { return p.arms(t, who, seeds) },
		tries: func(ctx context.Context, t task.Task, limit func(eval.Evaluator) eval.Evaluator) error {
			return p.agent.prepare(ctx, &p.Options, t, limit)
		},
		decides: func(arms []evolve.Arm) journal.Fingerprint {
			return journal.Fingerprint{
				"offline": standIn.String(), "searches": fmt.Sprint(kinds, arms),
				"policy": p.policy, "bandit seed": fmt.Sprint(p.banditSeed),
			}
		},
		ties: !p.Noisy && !slices.ContainsFunc(p.like, ownTies),
		kind: kinds[0], seed: p.Seed, algo: p.policy, budget: evolve.Budget{TuneEvaluations: p.tune + p.agent.tuned()},
		head: generationHead, row: generationRow,
		tables: func(r *evolve.Result, searches []result.Search) {
			if p.portfolio {
				printArms("search", kinds, r, searches)
			}
			printOperators(kinds, searches)
			printIdle(kinds, r)
		},
	}
	if p.portfolio {
		s.allocates = &allocation{seed: p.banditSeed, seeds: seeds, kinds: kinds, inFlight: 1}
		s.kind = ""
		s.head = "round  search        chance   gen     its best         best  " + cli.CountsHead
		s.row = func(e evolve.Event) string {
			g := e.Generation
			return fmt.Sprintf("%5d  %-12s  %6.2f  %4d  %11.6f  %11.6f  %s",
				e.Pull.ID+1, kinds[e.Pull.Arm], e.Pull.Prob, g.Index, g.Best.Result.Score, e.Best.Result.Score, cli.Counts(g))
		}
	}
	return s.run(ctx)
}

// arms returns the searches, of these seeds.
func (p *populationsOptions) arms(t task.Task, who cli.Proposing, seeds []uint32) (arms []evolve.Arm, err error) {
	if who.Weights != nil {
		return nil, cli.Usagef("--model %q: weights have an effect with greedy and bandit alone", p.Model)
	}
	for i, peer := range p.like {
		cfg := population.Config{
			Task: t, LLM: who.LLM, Proposers: who.Proposers, N: p.N, Seed: seeds[i], Breadth: p.Children(), Window: p.Window,
			Order: p.Order, Noise: p.Noise(),
		}
		if p.Strict && cfg.Noise == nil { // softmax and greedy keep it
			cfg.Archive = population.Top(1)
		}
		cfg = peer.Config(cfg)
		if p.Given("temperature") {
			cfg.Temperatures = nil
		}
		if p.Show[task.ShowAttempts] > 0 {
			cfg = withAttempts(cfg)
		}
		if p.tune > 0 {
			cfg = with(cfg, &tune.Tuner{})
		}
		if cfg, err = p.agent.added(&p.Options, t, cfg); err != nil {
			return nil, err
		}
		s, err := population.New(cfg)
		if err != nil {
			return nil, err
		}
		arms = append(arms, s)
	}
	return arms, nil
}

// with returns a search that has one operator more.
func with(cfg population.Config, o population.Operator) population.Config {
	if len(cfg.Operators) == 0 {
		cfg.Operators = []population.Operator{population.Rewrite{}}
	}
	cfg.Operators = append(cfg.Operators, o)
	if shares, ok := cfg.Policy.(bandit.Shares); ok {
		cfg.Policy = append(shares, slices.Max(shares)) // drawn as often as the most frequent operator
	}
	return cfg
}

// printIdle says why searches are done that have left calls of the budget: their last children had nothing to ask a
// model for.
func printIdle(kinds []string, r *evolve.Result) {
	if r.Stop != evolve.StopExhausted {
		return
	}
	for i, arm := range r.Arms {
		if len(arm.Generations) == 0 {
			continue
		}
		for _, c := range slices.Backward(arm.Generations[len(arm.Generations)-1].Children) {
			if !c.Asked() && !c.HasProgram() && c.Err != "" {
				cli.Printf("\n%s ended before the budget: its last children asked for nothing. Of the last one: %s\n",
					kinds[i], c.Err)
				break
			}
		}
	}
}

// printOperators prints the yield and the cost of each operator, with calls beside the children in parentheses.
func printOperators(kinds []string, searches []result.Search) {
	tokens := func(t history.Tokens) string { return fmt.Sprint(t.Prompt + t.Completion) }
	var rows [][]string
	for i, s := range searches {
		for _, name := range slices.Sorted(maps.Keys(s.Operators)) {
			o := s.Operators[name]
			rows = append(rows,
				[]string{kinds[i], name, fmt.Sprint(o.Children), fmt.Sprint(o.Improved), fmt.Sprint(o.Calls), tokens(o.Tokens)})
		}
		for _, kind := range slices.Sorted(maps.Keys(s.Uses)) {
			u := s.Uses[kind]
			rows = append(rows, []string{kinds[i], "(" + kind + ")", "", "", fmt.Sprint(u.Calls), tokens(u.Tokens)})
		}
	}
	if len(rows) > 0 {
		cli.Printf("\n")
		cli.Table([]string{"search", "operator", "children", "better", "calls", "tokens"}, rows)
	}
}
