package bandit_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

func TestFitPriorErrors(t *testing.T) {
	for _, tt := range []struct {
		reason string
		runs   [][]float64
		want   string
	}{
		{"nothing", nil, "bandit: FitPrior: no trajectory has a pull"},
		{"searches that never made a pull", [][]float64{{0.1}, {}}, "bandit: FitPrior: no trajectory has a pull"},
		{"a score that is none", [][]float64{{0, 1}, {0, 0.5, math.NaN()}}, "bandit: FitPrior: score NaN of trajectory 1 after 2 pulls"},
		{"a score beyond numbers", [][]float64{{math.Inf(-1), 1}}, "bandit: FitPrior: score -Inf of trajectory 0 after 0 pulls"},
	} {
		if _, err := bandit.FitPrior(tt.runs); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s...", tt.reason, err, tt.want)
		}
	}
}

func TestPriorPrints(t *testing.T) {
	runs := [][]float64{{0, 0.5, 0.25}, {0.1}, {0, 1}}
	p := fit(t, runs)
	same := fit(t, [][]float64{{0, 0.5, 0.5}, {0, 1}})
	if p.String() != same.String() {
		t.Errorf("a score that falls counts as the best until then, and a search without pulls not at all: %v, want %v", p, same)
	}
	before := p.String()
	runs[0][1] = 0.7
	if p.String() != before {
		t.Error("the prior changed with the slice that it was made from")
	}
	if other := fit(t, runs); other.String() == before {
		t.Errorf("other scores print the same: %v", other)
	}
}

// Two searches were logged: one that stands still for four pulls and then jumps, and one that saturates at
// half. What each state is worth can be seen without working it out.
func TestPriorKnowsTheFuture(t *testing.T) {
	late := []float64{0, 0, 0, 0, 0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9}
	early := []float64{0, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}
	prior := fit(t, slices.Repeat([][]float64{late, early}, 20))
	next := func(p bandit.Policy) int {
		for n := 1; n <= 4; n++ {
			p.Update(outcome(0), late[n])
			p.Update(outcome(1), early[n])
		}
		probs := make([]float64, 2)
		p.Probs(probs, bandit.Round{T: 8, Open: all(2), Pending: make([]int, 2)})
		return slices.Index(probs, 1)
	}
	if next(&bandit.ExpectedImprovement{T: 12, Prior: prior}) != 0 {
		t.Error("the arm that is about to jump is not pulled")
	}
	if next(&bandit.ExpectedImprovement{T: 12}) != 1 {
		t.Error("without a prior, the arm that has not moved yet is pulled")
	}
}

// With a prior of forty other searches of a family the mean best score of 40 runs is higher than without, by 0.22
// and 0.03.
func TestPriorReachesFurther(t *testing.T) {
	const runs, rounds = 40, 512
	for _, tt := range []struct {
		family sim.Family
		better float64
	}{{sim.Named("late-bloomers"), 0.15}, {sim.Named("draws"), 0}} {
		prior := fit(t, sim.Arms(tt.family, 1<<32, 40, 1, rounds))
		var plain, informed float64
		for seed := range uint64(runs) {
			arms := sim.Arms(tt.family, seed, 10, 1, rounds)
			plain += final(t, &bandit.ExpectedImprovement{T: rounds}, arms) / runs
			informed += final(t, &bandit.ExpectedImprovement{T: rounds, Prior: prior}, arms) / runs
		}
		if informed < plain+tt.better {
			t.Errorf("%v: mean best score %v with a prior, %v without", tt.family, informed, plain)
		}
	}
}

func final(t *testing.T, p bandit.Policy, arms [][]float64) float64 {
	t.Helper()
	played, err := sim.Play(p, arms, sim.PlayConfig{Rounds: len(arms[0]) - 1})
	if err != nil {
		t.Fatal(err)
	}
	return played.Best[len(played.Best)-1]
}

// A prior serves policies in several goroutines, and is worth the same to each. Run with -race.
func TestPriorIsShared(t *testing.T) {
	prior := fit(t, climbs(10, 60))
	arms := climbs(8, 50)
	var wg sync.WaitGroup
	scores := make([]float64, 4)
	for i := range scores {
		wg.Go(func() {
			played, err := sim.Play(&bandit.ExpectedImprovement{Prior: prior}, arms, sim.PlayConfig{Rounds: 60})
			if err == nil {
				scores[i] = played.Best[60]
			}
		})
	}
	wg.Wait()
	if slices.Min(scores) != slices.Max(scores) || scores[0] == 0 {
		t.Errorf("equal runs at once came to %v", scores)
	}
}

// A prior with another number of calls to a pull is another prior; the first stays as it is.
func TestPriorEvery(t *testing.T) {
	p := fit(t, [][]float64{{0, 0.5, 0.5}, {0, 1}})
	wide := p.Every(64)
	if p.String() == wide.String() || !strings.Contains(wide.String(), "2 searches, 3 pulls of 64 calls, ") || wide.Every(1).String() != p.String() {
		t.Errorf("%v, with 64 calls to a pull %v", p, wide)
	}
	wantPanic(t, "a pull of nothing", func() { p.Every(0) }, "Prior.Every(0)")
}

// A policy with pulls of one call and a prior of pulls of four looks at the prior after every fourth call of an arm: the
// searches of the prior jump with their second pull, so an arm with four calls is about to.
func TestPriorOfLargerPulls(t *testing.T) {
	prior := fit(t, slices.Repeat([][]float64{{0, 0, 0.9, 0.9, 0.9}, {0, 0.4, 0.4, 0.4, 0.4}}, 20))
	for _, tt := range []struct {
		every, want int
	}{{4, 0}, {1, 1}} { // with pulls of one call, arm 0 has stood still for longer than any search that ever jumped
		p := &bandit.ExpectedImprovement{T: 16, Prior: prior.Every(tt.every)}
		for n := range 4 {
			p.Update(outcome(0), 0)
			p.Update(outcome(1), []float64{0.1, 0.2, 0.3, 0.4}[n])
		}
		probs := make([]float64, 2)
		p.Probs(probs, bandit.Round{T: 8, Open: all(2), Pending: make([]int, 2)})
		if got := slices.Index(probs, 1); got != tt.want {
			t.Errorf("with %d calls to a pull of the prior, arm %d is pulled, want %d", tt.every, got, tt.want)
		}
	}
}

// Earlier searches on the task, as replay.Curves reads them from results, inform the next run.
func ExampleFitPrior() {
	earlier := [][]float64{ // the best score after 0, 1, 2, ... generations
		{0.2, 0.2, 0.5, 0.5, 0.6, 0.6},
		{0.2, 0.4, 0.4, 0.4, 0.4, 0.4},
		{0.2, 0.2, 0.2}, // given up
	}
	prior, err := bandit.FitPrior(earlier)
	fmt.Println(prior, err)
	fmt.Println(&bandit.ExpectedImprovement{T: 64, Prior: prior})
	// Output:
	// Prior(3 searches, 12 pulls, fc464f1a) <nil>
	// ExpectedImprovement(T=64, prior=Prior(3 searches, 12 pulls, fc464f1a))
}

func ExamplePrior() {
	prior, err := bandit.FitPrior([][]float64{{0.2, 0.2, 0.5, 0.7}})
	if err != nil {
		panic(err)
	}
	fmt.Println(&bandit.ExpectedImprovement{T: 64, Prior: prior})
	// Output:
	// ExpectedImprovement(T=64, prior=Prior(1 searches, 3 pulls, 444b2cbf))
}

// The prior is of generations of 64 children, and the policy is told that its pulls make fewer.
func ExamplePrior_Every() {
	prior, err := bandit.FitPrior([][]float64{{0.2, 0.2, 0.5, 0.7}})
	if err != nil {
		panic(err)
	}
	fmt.Println(prior.Every(64))
	// Output: Prior(1 searches, 3 pulls of 64 calls, 444b2cbf)
}
