package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/lab/peers"
	"github.com/evoalloc/evoalloc/llm"
)

// What --like is by default: of one search, and of a portfolio. The latter are unlike each other.
const (
	defaultLike      = "softmax"
	defaultPortfolio = "greedy,softmax,llm-evo,openevolve"
)

// Populations is what the flags of the populations example say.
type Populations struct {
	Options
	Search
	Like       []peers.Peer // one, or the arms of a portfolio
	Portfolio  bool
	List       bool
	Policy     string
	BanditSeed uint64
	Tune       int // tune evaluations; 0: nothing is tuned
}

// ParsePopulations reads the flags of the populations example.
func ParsePopulations(args []string) (*Populations, error) {
	var p Populations
	fs := flag.NewFlagSet("populations", flag.ContinueOnError)
	p.Register(fs)
	p.register(fs)
	like := fs.String("like", "", "the search: "+strings.Join(peers.Names(), ", ")+"; with --portfolio several, separated by commas (default: "+defaultLike+"; with --portfolio "+defaultPortfolio+")")
	fs.BoolVar(&p.Portfolio, "portfolio", false, "run several searches as the arms of a bandit, which finds out which to go on with; each has the seed after that of the one before")
	fs.BoolVar(&p.List, "list", false, "print what searches there are")
	fs.StringVar(&p.Policy, "policy", "ei", "with --portfolio: the bandit's policy: "+strings.Join(PolicyKeys(), ", "))
	fs.IntVar(&p.Tune, "tune", 0, "tune the numbers of programs without a model, in this many tune evaluations beside the calls")
	fs.Uint64Var(&p.BanditSeed, "bandit-seed", 0, "with --portfolio: seed of the policy's draws")
	fs.Lookup("eval-timeout").Usage += fmt.Sprintf("; %v, of which %v of a processor, for the programs of the offline model in JavaScript, some of which never end", standInEvalTimeout, standInCPU)
	if err := p.Parse(fs, args); err != nil {
		return nil, err
	}
	p.limitStandIn()
	if err := p.checkPortfolio(); err != nil {
		return nil, err
	}
	names := cmp.Or(*like, defaultLike)
	if p.Portfolio {
		names = cmp.Or(*like, defaultPortfolio)
	}
	if err := p.choose(strings.Split(names, ",")); err != nil {
		return nil, err
	}
	if err := p.Search.check(&p.Options, maxSeed-uint32(len(p.Like)-1)); err != nil {
		return nil, err
	}
	return &p, nil
}

// What an evaluation of a program that the stand-in for a model wrote may take, in all and of a processor. Where it crosses
// programs, one in nine never ends, and would take the whole limit of real models' programs. Those of the built-in tasks
// take some milliseconds, or 0.1 s.
const (
	standInEvalTimeout = time.Second
	standInCPU         = 250 * time.Millisecond
)

// limitStandIn sets these limits where the flags do not say another, and where workers have none of their own.
func (p *Populations) limitStandIn() {
	_, builtIn := problem(p.Task)
	if builtIn && p.Task != textKey && p.Offline() && p.Runtime == "js" && p.NATS.URL == "" && !p.given["eval-timeout"] {
		p.EvalTimeout, p.EvalCPU = standInEvalTimeout, standInCPU
	}
}

// checkPortfolio checks the flags of the bandit.
func (p *Populations) checkPortfolio() error {
	for _, name := range []string{"policy", "bandit-seed"} {
		if !p.Portfolio && p.given[name] {
			return Usagef("--%s has no effect without --portfolio", name)
		}
	}
	if !slices.Contains(PolicyKeys(), p.Policy) {
		return unknownPolicy(p.Policy)
	}
	if p.Tune < 0 {
		return Usagef("--tune is %d: need 0 for none, or more", p.Tune)
	}
	return nil
}

// choose looks the searches up by their names.
func (p *Populations) choose(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		peer, err := peers.Named(strings.TrimSpace(name))
		switch {
		case err != nil:
			return Usagef("--like: %w", err)
		case seen[peer.Name]:
			return Usagef("--like names %s twice: name each search once", peer.Name)
		}
		seen[peer.Name] = true
		p.Like = append(p.Like, peer)
	}
	if n := len(p.Like); n > 1 != p.Portfolio {
		return Usagef("--like names %s: need one, or with --portfolio several", count(n, "search", "searches"))
	}
	return nil
}

// Kinds returns the names of the searches.
func (p *Populations) Kinds() (names []string) {
	for _, peer := range p.Like {
		names = append(names, peer.Name)
	}
	return names
}

// Seeds returns the seeds of the searches.
func (p *Populations) Seeds() (seeds []uint32) {
	for i := range p.Like {
		seeds = append(seeds, p.Seed+uint32(i))
	}
	return seeds
}

// PrintList prints what searches there are.
func (p *Populations) PrintList() {
	for _, peer := range peers.Peers() {
		Printf("%-13s %s\n", peer.Name, peer.Summary)
	}
}

// Progress returns a Progress with a line for each generation, and in a portfolio the search that made it.
func (p *Populations) Progress(ctx context.Context) *Progress {
	if !p.Portfolio {
		return p.generations(ctx)
	}
	head := "round  search        chance   gen     its best         best  " + CountsHead
	return NewProgress(ctx, p.T*p.N, head, func(e evolve.Event) string {
		g := e.Generation
		return fmt.Sprintf("%5d  %-12s  %6.2f  %4d  %11.6f  %11.6f  %s",
			e.Pull.ID+1, p.Like[e.Pull.Arm].Name, e.Pull.Prob, g.Index, g.Best.Result.Score, e.Best.Result.Score, Counts(g))
	}, p.Workers)
}

// Summary prints what the operators of each search made, how the run ended, and what it cost.
func (p *Populations) Summary(model llm.LLM, r *evolve.Result, searches []report.Search, cost report.Cost, by report.Ledgers) {
	if p.Portfolio {
		p.printArms(r, searches)
	}
	p.printOperators(searches)
	p.summary(model, r, cost, by)
	printAudits(searches...)
}

// printArms prints what each search got and found.
func (p *Populations) printArms(r *evolve.Result, searches []report.Search) {
	Printf("\n")
	var rows [][]string
	for i, s := range searches {
		rows = append(rows, []string{p.Like[i].Name, fmt.Sprint(s.Seed), fmt.Sprint(len(r.Arms[i].Generations)),
			fmt.Sprintf("%.6f", s.FinalFitness), fmt.Sprintf("%.4g", s.FLOPs.WorstCase.TotalFLOPs)})
	}
	Table([]string{"search", "seed", "pulls", "best", "FLOPs"}, rows)
}

// printOperators prints what each operator made and cost, and in parentheses what was asked beside the children.
func (p *Populations) printOperators(searches []report.Search) {
	var rows [][]string
	for i, s := range searches {
		for _, name := range slices.Sorted(maps.Keys(s.Operators)) {
			o := s.Operators[name]
			rows = append(rows, []string{p.Like[i].Name, name, fmt.Sprint(o.Children), fmt.Sprint(o.Improved), fmt.Sprint(o.Calls), tokens(o.Tokens)})
		}
		for _, kind := range slices.Sorted(maps.Keys(s.Uses)) {
			u := s.Uses[kind]
			rows = append(rows, []string{p.Like[i].Name, "(" + kind + ")", "", "", fmt.Sprint(u.Calls), tokens(u.Tokens)})
		}
	}
	if len(rows) > 0 {
		Printf("\n")
		Table([]string{"search", "operator", "children", "better", "calls", "tokens"}, rows)
	}
}

func tokens(t report.Tokens) string { return fmt.Sprint(t.Prompt + t.Completion) }
