package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// GreedyConfig says what a [Greedy] search works on and with.
type GreedyConfig struct {
	Task task.Task // what to improve; required
	// LLM proposes children; required, unless each of Proposers has one. A generation asks for N at once, so limit the
	// calls in flight with [llm.Limit]. One limit can serve many searches.
	LLM llm.LLM
	// Proposers are several ways to ask for a child; see [Breeder]. The arms of [GreedyArms] share what they learn.
	Proposers []Proposer
	// Policy returns a policy over Proposers for each search; nil means the Breeder's default.
	Policy func() bandit.Policy
	// N is how many children a generation has, at most MaxN; 0 means DefaultN. With a Breadth it is the most
	// that one has, and 0 means that Breadth alone decides.
	N    int
	Seed uint32 // addresses the children's seeds, see [ChildSeed]; 0 is a seed like another
	// Breadth decides how many children each generation has; nil means N. All arms of [GreedyArms] have the same one.
	// With a Breadth a child's seed is ChildSeed(Seed, 0, generation, index), so that no two of a search share one.
	Breadth Breadth
	// MaxGenerations is when the search is done; 0 means never.
	MaxGenerations int
	// Strict keeps the parent at a tie and takes the first program of a reply, as the BaSE paper's search does.
	// Otherwise a child that scores the same as the best replaces it as the parent, and the last whole program of a
	// reply counts ([task.Reply]). The best program is the first of its score either way.
	Strict bool
	// Window is how many children are under way at once; 0 means all N. With fewer than N a better child is
	// the parent of those briefed after it. One generation of 512 children with a window of 64 is a
	// steady-state search, in which no call waits for the slowest of a generation.
	Window int
	// Order is in which order children are taken in; see [Breeder].
	Order Order
}

func (c GreedyConfig) withDefaults() GreedyConfig {
	switch {
	case c.N == 0 && c.Breadth == nil:
		c.N = DefaultN
	case c.N == 0:
		c.N = MaxN
	}
	return c
}

func (c GreedyConfig) validate() error {
	if err := validBreadth(c.Breadth); err != nil {
		return err
	}
	switch {
	case c.LLM == nil && len(c.Proposers) == 0:
		return errors.New("evolve: GreedyConfig.LLM is nil")
	case c.N < 1 || c.N > MaxN:
		return fmt.Errorf("evolve: GreedyConfig.N is %d: a generation needs at least 1 child, and at most %d", c.N, MaxN)
	case c.MaxGenerations < 0:
		return fmt.Errorf("evolve: GreedyConfig.MaxGenerations is %d: need 0 for no limit, or more", c.MaxGenerations)
	}
	return nil
}

// Greedy is the simplest search: each child is a rewrite of the best program so far, and replaces it if it is
// at least as good; a Strict search keeps the parent at a tie.
//
// Without a window a generation freezes its parent, asks for N independent rewrites of it at once, and the
// best of them is the next parent. With a window, children briefed after a better one are rewrites of that. Among equal
// children the one of highest index is the parent, in a Strict search, which is the BaSE paper's, that of lowest index.
//
// It takes scores for exact. Where they are noisy, package population's search with a Noise is greedy search of means.
//
// The fields of its Breeder may be set before the first step: From, OnChild; Noise, with which each child is scored
// once and only the best again; MaxFailures, which is twice GreedyConfig.N or DefaultN, at least 32.
type Greedy struct {
	Breeder
	cfg   GreedyConfig
	equal Child // the last child that scored the same as the best, 0 before there is one and in a Strict search
}

var (
	_ Sizer   = (*Greedy)(nil)
	_ Starter = (*Greedy)(nil)
)

// NewGreedy returns a search that has not begun. It fails if a field of cfg is wrong.
func NewGreedy(cfg GreedyConfig) (*Greedy, error) {
	failures := max(2*cmp.Or(cfg.N, DefaultN), 32) // also where a Breadth alone decides how many children a step has
	cfg = cfg.withDefaults()
	g := &Greedy{cfg: cfg, Breeder: Breeder{Task: cfg.Task, LLM: cfg.LLM, Window: cfg.Window, Order: cfg.Order,
		Strict: cfg.Strict, MaxFailures: failures, Proposers: cfg.Proposers, Seed: cfg.Seed}}
	if cfg.Policy != nil {
		g.Policy = cfg.Policy()
	}
	if err := cmp.Or(cfg.validate(), g.validate()); err != nil {
		return nil, err
	}
	return g, nil
}

// ArmSeed returns the seed of the i-th of several searches of a run, from 0, derived from the run's.
func ArmSeed(seed uint32, i int) uint32 {
	word, _ := stream.Seed(uint64(seed), "sweep: arm", uint64(i)) // as journals of sweeps have it
	return uint32(word >> 32)
}

// GreedyArms returns k searches that differ only in their seeds: the i-th has ArmSeed(cfg.Seed, i), or cfg.Seed + i if
// they are Strict, as the BaSE paper's. It fails if k is not in 1..MaxN, or if a field of cfg is wrong.
func GreedyArms(cfg GreedyConfig, k int) ([]Arm, error) {
	if k < 1 || k > MaxN {
		return nil, fmt.Errorf("evolve: GreedyArms of %d arms: need at least 1, and at most %d", k, MaxN)
	}
	arms := make([]Arm, k)
	base := cfg.Seed // arms with one seed would send equal requests, and at best get equal answers
	for i := range arms {
		if cfg.Seed = base + uint32(i); !cfg.Strict {
			cfg.Seed = ArmSeed(base, i)
		}
		g, err := NewGreedy(cfg)
		if err != nil {
			return nil, err
		}
		g.Shared = true
		arms[i] = g
	}
	return arms, nil
}

// Done reports whether the search has made MaxGenerations, or an error ended it.
func (g *Greedy) Done() bool {
	return g.Breeder.Done() || g.cfg.MaxGenerations > 0 && g.Steps() >= g.cfg.MaxGenerations
}

// Calls returns how many children the next step makes: N, or what Breadth decides. It panics if Breadth does, or is
// out of 1..MaxN. In a run that is an error that ends the run before the step is drawn.
func (g *Greedy) Calls() int {
	n, err := g.next()
	if err != nil {
		step.Throw(err)
	}
	return n
}

// next returns how many children the next step makes.
func (g *Greedy) next() (int, error) {
	if g.cfg.Breadth == nil {
		return g.cfg.N, nil
	}
	n, err := g.Width(g.cfg.Breadth)
	return min(n, g.cfg.N), err
}

// Seed returns the search's seed.
func (g *Greedy) Seed() uint32 { return g.cfg.Seed }

// Step makes one generation of N children, or as many as Breadth decides, or of fewer if turn grants fewer calls.
// It returns an error if ctx ends, if evaluation itself fails, if the model is [llm.Unavailable], after MaxFailures
// failed calls in a row, or if Breadth fails. Later Steps return the same error.
func (g *Greedy) Step(ctx context.Context, turn *Turn) (Generation, error) {
	n, err := g.next()
	if err != nil {
		g.err = cmp.Or(g.err, err)
	}
	return g.Breed(ctx, turn, n, g.brief, g.drift)
}

// drift makes a valid child that ties with the best the parent, unless the search is Strict.
func (g *Greedy) drift(c Child) {
	if !g.cfg.Strict && c.Scored() && c.Result.Valid && !g.best.Better(c.Candidate) {
		g.equal = c
	}
}

// Demote reverts to the best of the time when the last step began, and forgets what the search has drifted to.
func (g *Greedy) Demote() {
	g.Breeder.Demote()
	g.equal = Child{}
}

// parent returns the program that the next child is a rewrite of, and its ID.
func (g *Greedy) parent() (eval.Candidate, int) {
	if g.equal.ID > 0 {
		return g.equal.Candidate, g.equal.ID
	}
	return g.best, g.bestID
}

// brief asks for a rewrite of the parent.
//
// Without a window all briefs of a step come before the first child is taken in, so they have the same parent.
// The seed is an address: no two children of a search share one, and no draw depends on which came before.
func (g *Greedy) brief(i int) Brief {
	parent, id := g.parent()
	ask := task.Request{Parents: []eval.Candidate{parent}}
	if g.cfg.Strict {
		ask.Form = task.AsFirst
	}
	n := g.cfg.N
	if g.cfg.Breadth != nil {
		n = 0 // a child's address is then the same however many siblings it has, and not that of a search with some N
	}
	return Brief{Request: ask, From: []int{id}, Seed: ChildSeed(g.cfg.Seed, n, g.Steps()-1, i)}
}

// String returns what decides the search, but for the task's and the model's settings. A strict search prints as
// all did before ties were taken by default, as it may stand in the fingerprints of journals.
func (g *Greedy) String() string {
	s := fmt.Sprintf("Greedy(%s, N=%d, seed=%d", g.cfg.Task.Name(), g.cfg.N, g.cfg.Seed)
	if g.cfg.Breadth != nil {
		s += ", " + nameOf(g.cfg.Breadth)
	}
	if !g.cfg.Strict {
		s += ", neutral"
	}
	if p := g.proposers(); p != "" {
		s += ", proposers " + p
	}
	if g.cfg.Window > 0 {
		s += fmt.Sprintf(", window %d, %v", g.cfg.Window, g.cfg.Order)
	}
	return s + ")"
}

// Breadth returns what decides how many children each generation has, nil for N. Journals have how it prints.
func (g *Greedy) Breadth() Breadth { return g.cfg.Breadth }
