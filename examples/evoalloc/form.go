package main

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A form is the header of a run's result file: of one search, or of a bandit over several.
type form struct {
	one     report.Header
	seed    uint32
	several *report.BanditHeader // nil for one search
}

func (s search) form(t task.Task, spec llm.Model, asked []llm.Model, policy bandit.Policy) form {
	header := report.Header{Task: t.Name(), Model: spec, Asked: asked, T: s.T, N: s.N, Breadth: s.Children(), Kind: s.kind}
	f := form{one: header, seed: s.seed}
	if a := s.allocates; a != nil {
		f.several = &report.BanditHeader{
			Header: f.one, Algo: s.algo, Policy: fmt.Sprint(policy), BanditSeed: a.seed, ArmSeeds: a.seeds, Kinds: a.kinds,
		}
	}
	return f
}

// keeps notes whether the parent stays at a tie, or the searches have rules of their own.
func (f *form) keeps(parent bool) {
	ties := result.TiesTaken
	if parent {
		ties = ""
	}
	f.one.Ties = ties
	if f.several != nil {
		f.several.Ties = ties
	}
}

// path returns the file's path below the folder of results.
func (f form) path() string {
	if f.several != nil {
		return f.several.Path()
	}
	return f.one.GreedyPath(f.seed)
}

// A resultFile is a result's file, and its part in the summary.
type resultFile struct {
	body     any // a *report.Greedy or a *report.Bandit
	heldOut  **result.HeldOut
	searches []result.Search
	cost     result.Cost
	ledgers  result.Totals
}

func (f form) report(r *evolve.Result) resultFile {
	if f.several == nil {
		g := report.NewGreedy(r, f.one, f.seed)
		return resultFile{&g, &g.HeldOut, []result.Search{g.Search}, g.FLOPs, g.Totals}
	}
	b := report.NewBandit(r, *f.several)
	var searches []result.Search
	for _, arm := range b.ArmResults {
		searches = append(searches, arm.Search)
	}
	return resultFile{&b, &b.HeldOut, searches, b.FLOPs, b.Totals}
}
