package population

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/task"
)

// A Population is a search that keeps an [Archive] of programs. Each child has a parent that a [Selector] takes out of
// it, and is made by an [Operator]. A valid child is offered to the archive.
//
// All that is random in a child comes from a stream of its own, addressed by the search's seed and the child's order
// of birth, and is drawn when the child is briefed. With evolve.ByIndex the result therefore depends on the replies,
// and not on which of them comes first. Nothing is asked again in secret: a failed call, a reply without a program,
// and a program that a gate refuses are children that spent their call.
type Population struct {
	evolve.Breeder
	cfg     Config
	islands *chooser // nil unless the archive has several islands
	seeded  bool     // the archive was given the initial program
	born    int      // children briefed
	step    stepState
	invalid []Member // the newest maxInvalid, oldest first
	elders  *elders
	taken   int      // scored programs that gates were told of
	leader  *Member  // the best member so far; nil before there is one
	credit  struct { // of the child that was taken in last
		reward float64
		ok     bool
	}
}

// stepState is what a Population knows of one step. It is made anew in each.
type stepState struct {
	prior   *Member           // the leader when it began
	pending map[int]*expected // children under way, by ID
}

// expected is a child that was briefed and is not taken in yet.
type expected struct {
	view     *View
	parent   Member // of which the operator makes the child
	proposer int    // its index among the Breeder's
	island   bandit.Pull
	sections []task.Section    // that the prompt shows
	labels   map[string]string // of the brief, to which the child's place is added
}

var (
	_ evolve.Sizer   = (*Population)(nil)
	_ evolve.Starter = (*Population)(nil)
)

// New returns a search that has not begun. It fails if a field of cfg is wrong.
func New(cfg Config) (*Population, error) {
	var err error
	if cfg.Noise, err = cfg.Noise.WithDefaults(); err != nil {
		return nil, err
	}
	// also where a Breadth alone decides how many children a step has
	failures := max(2*cmp.Or(cfg.N, evolve.DefaultN), 32)
	own := cfg.Credit != nil
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	one, _ := cfg.Archive.(*top)
	p := &Population{cfg: cfg, elders: newElders(), Breeder: evolve.Breeder{
		Task: cfg.Task, LLM: cfg.LLM, From: cfg.Start, Window: cfg.Window, Order: cfg.Order, Noise: cfg.Noise,
		Strict: one != nil && one.n == 1, MaxFailures: failures, OnChild: cfg.OnChild, Proposers: cfg.proposers(),
		Policy: cfg.Policy, Seed: cfg.Seed}}
	if own {
		p.Breeder.Credit = func(evolve.Child) (float64, bool) { return p.credit.reward, p.credit.ok }
	}
	if islands, ok := cfg.Archive.(*Islands); ok {
		p.islands = newChooser(cfg.Islands, len(islands.Of), cfg.Seed)
	}
	return p, nil
}

// Calls returns how many children the next step makes: N, or what Breadth decides. If that fails it returns 1, and the
// next Step returns the error.
func (p *Population) Calls() int {
	n, err := p.next()
	if err != nil {
		return 1
	}
	return n
}

// next returns how many children the next step makes.
func (p *Population) next() (int, error) {
	if p.cfg.Breadth == nil {
		return p.cfg.N, nil
	}
	n, err := p.Width(p.cfg.Breadth)
	return min(n, p.cfg.N), err
}

// Breadth returns what decides how many children each generation has, nil for N. A journal recognizes a run by how it
// prints itself.
func (p *Population) Breadth() evolve.Breadth { return p.cfg.Breadth }

// Seed returns the search's seed.
func (p *Population) Seed() uint32 { return p.cfg.Seed }

// stream returns the search's random stream of a name and an index.
func (p *Population) stream(name string, index int) *rand.Rand {
	return stream.New(uint64(p.cfg.Seed), "population "+name, uint64(index))
}

// String returns what decides the search, but for the task's and the model's settings.
func (p *Population) String() string {
	return fmt.Sprintf("Population(%s, N=%d, seed=%d, %s)", p.cfg.Task.Name(), p.cfg.N, p.cfg.Seed, p.cfg.parts())
}
