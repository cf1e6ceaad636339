package searches

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// race runs a search on a problem of its own and calls each for every step.
func race(t *testing.T, s compare.Search, f compare.Family, calls int, each func(evolve.Event)) {
	t.Helper()
	p, err := f.Make(5)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Make(compare.Setting{Task: p.Task, LLM: p.LLM, Noisy: p.Noisy, Seed: 5, Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Budget.Calls = calls
	cfg.Observer = func(e evolve.Event) {
		if e.Kind == evolve.EventGeneration {
			each(e)
		}
	}
	if _, err := evolve.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
}

// even deals pulls out alike.
func even(int) bandit.Policy { return bandit.Random{} }

var unlike = []compare.Search{bestOfN(), compare.Greedy("plain", evolve.GreedyConfig{N: 1}),
	powerLaw("archive", population.Cross{})}

// Whoever is drawn goes on from the best of all.
func TestRelayHandsOn(t *testing.T) {
	var best eval.Candidate
	taken := 0
	race(t, relay("relay", even, unlike...), family("additive"), 200, func(e evolve.Event) {
		if best.Result.Valid && e.Generation.Before.Result.Score != best.Result.Score {
			t.Errorf("arm %d begins from %v, and the best is %v", e.Pull.Arm, e.Generation.Before.Result.Score,
				best.Result.Score)
		}
		if e.Reward != raised(e.Generation) {
			t.Errorf("a reward of %v for a step from %v to %v", e.Reward, e.Generation.Before.Result.Score,
				e.Generation.Best.Result.Score)
		}
		if e.Pull.Arm == 0 && e.Generation.Best.Better(e.Generation.Before) {
			taken++
		}
		best = e.Best
	})
	if taken < 2 {
		t.Errorf("the search that rewrites what it began with raised the best %d times: it was not handed on to it", taken)
	}
}

// In a portfolio nobody takes over what another has found.
func TestPortfolioDoesNotHandOn(t *testing.T) {
	own := map[int]float64{}
	race(t, portfolio("portfolio", even, unlike...), family("additive"), 100, func(e evolve.Event) {
		if before, ok := own[e.Pull.Arm]; ok && e.Generation.Before.Result.Score != before {
			t.Errorf("arm %d begins from %v, and its own best is %v", e.Pull.Arm, e.Generation.Before.Result.Score, before)
		}
		own[e.Pull.Arm] = e.Generation.Best.Result.Score
	})
	if len(own) != len(unlike) {
		t.Errorf("%d of %d members were drawn", len(own), len(unlike))
	}
}

// Where scores are noisy, one evaluation hands nothing on.
func TestRelayIsNotLedByLuck(t *testing.T) {
	own := map[int]float64{}
	race(t, relay("relay", even, unlike...), family("noisy"), 100, func(e evolve.Event) {
		if before, ok := own[e.Pull.Arm]; ok && e.Generation.Before.Result.Score != before {
			t.Errorf("arm %d, which scores nothing again, begins from %v, and its own best is %v", e.Pull.Arm,
				e.Generation.Before.Result.Score, before)
		}
		own[e.Pull.Arm] = e.Generation.Best.Result.Score
	})
	again, handed := 0, 0
	last := map[int]float64{}
	members := []compare.Search{
		rescored("a", func(compare.Setting) population.Config { return population.Config{} }),
		rescored("b", func(compare.Setting) population.Config {
			return population.Config{Operators: []population.Operator{population.Explore{}}}
		}),
	}
	race(t, relay("relay", even, members...), family("noisy"), 600, func(e evolve.Event) {
		if e.Generation.Best.Result.N() >= 3 {
			again++
		}
		if was, ok := last[e.Pull.Arm]; ok && e.Generation.Before.Result.Score > was {
			handed++
		}
		last[e.Pull.Arm] = e.Generation.Best.Result.Score
	})
	if again == 0 || handed == 0 {
		t.Errorf("members that score again had %d bests scored three times, and were handed %d programs", again, handed)
	}
}
