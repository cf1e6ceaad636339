// Package peers has other systems' searches as configurations of a population: the same parts, put together as these
// systems do. Each comment says what differs from the original on purpose, and why. Where testdata/parity has a record
// of a peer, made by its own code at the commit of [Peer.Source], tests compare what is kept and drawn with it.
//
// Common to all: what a call brings is one child, so nothing is asked again in secret; an invalid program is data and
// not a score of 0, and stays out of the archive; the ensemble of models that most have is Config.Proposers;
// prompts are the task's, not the system's.
package peers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Setting is what a search is told and does not decide. The fields are those of [population.Config].
type Setting struct {
	Task task.Task // required
	LLM  llm.LLM   // required
	// Proposers are several models. One bandit over them and the operators is then in the place of the peer's own.
	Proposers      []evolve.Proposer
	N              int
	Seed           uint32
	Breadth        evolve.Breadth
	Window         int
	Order          evolve.Order
	Noise          *evolve.Noise
	Strict         bool // softmax and greedy keep the parent at a tie
	OwnTemperature bool // Shinka's calls have the model's own temperature too, and none of the system's drawn for each
	OnChild        func(evolve.Child)
	// Spread is the standard deviation of the initial program's score over several evaluations, for searches that
	// credit gains in such units; 0 means that it is not known, or that there is no noise.
	Spread float64
}

// config returns a greedy search with the setting.
func (s Setting) config() population.Config {
	c := population.Config{
		Task: s.Task, LLM: s.LLM, Proposers: s.Proposers, N: s.N, Seed: s.Seed, Breadth: s.Breadth, Window: s.Window,
		Order: s.Order, Noise: s.Noise, OnChild: s.OnChild}
	if s.Strict && s.Noise == nil { // with a Noise the default keeps several, and the older one at a tie
		c.Archive = population.Top(1)
	}
	return c
}

// A Peer is a search by its name.
type Peer struct {
	Name    string
	Summary string // what it is, in one line
	Source  string // whose rules it has: a repository and a commit, or a paper; "" for a search of this library
	// Config returns the search. Its parts are new each time, because searches must not share them.
	Config func(Setting) population.Config
}

// Arm returns the search. change, if not nil, returns the configuration in place of the peer's.
func (p Peer) Arm(s Setting, change func(population.Config) (population.Config, error)) (evolve.Arm, error) {
	cfg := p.Config(s)
	if len(s.Proposers) > 1 {
		cfg.Policy, cfg.Credit = nil, nil
	}
	if change != nil {
		var err error
		if cfg, err = change(cfg); err != nil {
			return nil, err
		}
	}
	return population.New(cfg)
}

// Peers returns all peers: what this library does by default, the baseline, and then the other systems.
func Peers() []Peer {
	return []Peer{
		{"softmax", "the best program, rewritten or explored from as a softmax bandit finds better", "", Softmax},
		{"greedy", "the best program, rewritten", "", Greedy},
		{"openevolve", "MAP-Elites on five islands, top and diverse programs shown (OpenEvolve)",
			"algorithmicsuperintelligence/openevolve 411fb59", OpenEvolve},
		{"shinka", "weighted parents, three kinds of patch, a novelty gate (ShinkaEvolve)",
			"SakanaAI/ShinkaEvolve 9912af1", Shinka},
		{"gepa", "the best program of each case, rewritten by reflection, and merged (GEPA)",
			"gepa-ai/gepa b265bf9c", GEPA},
		{"adaevolve", "islands by UCB, exploration that fades while scores rise (AdaEvolve)",
			"skydiscover-ai/skydiscover 59643ef", AdaEvolve},
		{"beam", "five programs, good and unlike each other, parents by both (SkyDiscover's beam search)",
			"skydiscover-ai/skydiscover 59643ef", Beam},
		{"best-of-n", "five rewrites of one program, and then of the best (SkyDiscover)",
			"skydiscover-ai/skydiscover 59643ef", BestOfN},
		{"top-k", "the best program, rewritten beside the next four (SkyDiscover)",
			"skydiscover-ai/skydiscover 59643ef", TopK},
		{"llm-evo", "mutate, cross, explore and insights under a softmax bandit (LLM-Evo)",
			"nrouizem/LLM-evo bb6913d", LLMEvo},
		{"evoprompt-ga", "parents by roulette wheel, crossed and mutated in one prompt (EvoPrompt)",
			"beeevita/EvoPrompt 94caff3", EvoPromptGA},
		{"evoprompt-de", "differential evolution: what two differ in, on the best, crossed with a third (EvoPrompt)",
			"beeevita/EvoPrompt 94caff3", EvoPromptDE},
		{"dgm", "an archive of all, parents by score and by few children, and repairs (Darwin Gödel Machine)",
			"jennyzzt/dgm d88fdd6", DGM},
	}
}

// Names returns the names of [Peers].
func Names() []string {
	var names []string
	for _, p := range Peers() {
		names = append(names, p.Name)
	}
	return names
}

// Named returns the peer of that name. The error for an unknown one lists all names.
func Named(name string) (Peer, error) {
	all := Peers()
	if i := slices.IndexFunc(all, func(p Peer) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Peer{}, fmt.Errorf("peers: unknown search %q: it is one of %s", name, strings.Join(Names(), ", "))
}
