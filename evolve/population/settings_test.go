package population_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// heedful is a model that raises the number of the first program if it is asked to climb, and lowers it if it is not.
var heedful = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	var v float64
	if _, err := fmt.Sscan(shown(req), &v); err != nil {
		return llm.Reply{}, err
	}
	step := float64(req.Seed%1000)/1000 - 1
	if strings.Contains(req.Messages[len(req.Messages)-1].Content, "Climb.") && req.Seed%4 == 0 {
		step += 1.5
	}
	return ok(fmt.Sprintf("```text\n%v\n```", v+step)), nil
})

var rigged = []population.Operator{population.Rewrite{Label: "climb", Instruction: "Climb."},
	population.Rewrite{Label: "fall", Instruction: "Fall."}}

// bySettings counts the children of a run by their label.
func bySettings(res *evolve.Result) map[string]int {
	n := map[string]int{}
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			n[c.Labels["settings"]]++
		}
	}
	return n
}

// A still policy learns of every pull that it was worth nothing: a placebo.
type still struct{ bandit.Policy }

func (s still) Update(pull bandit.Pull, _ float64) { s.Policy.Update(pull, 0) }
func (s still) String() string                     { return "still" }

// fading is a policy of settings, which is that of a Config by default.
func fading() bandit.Policy {
	return bandit.Discounted(&bandit.GaussianThompson{Sigma: 0.03, PriorMean: 1, PriorStrength: 0.1}, 0.98)
}

// Where one operator never helps, the bandit comes to pull the settings that do without it, and its placebo does not.
func TestTheGoodSettingsAreFound(t *testing.T) {
	share := func(policy func() bandit.Policy) float64 {
		good := 0
		for seed := range uint32(4) {
			p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: heedful, N: 2, Seed: seed, Operators: rigged,
				Policy: bandit.Shares{1, 1}, SettingsPolicy: policy(), Settings: []population.Settings{
					{Name: "half"}, {Name: "good", Weights: []float64{1, 0}}, {Name: "bad", Weights: []float64{0, 1}}}})
			good += bySettings(run(t, p, 400))["good"]
		}
		return float64(good) / 1600
	}
	if s := share(func() bandit.Policy { return nil }); s < 0.5 {
		t.Errorf("%.2f of children have the good settings, want more than half", s)
	}
	// 800 pulls in thirds: four standard deviations are 0.067.
	if s := share(func() bandit.Policy { return still{fading()} }); math.Abs(s-1.0/3) > 0.067 {
		t.Errorf("with nothing learned, %.2f of children have the good settings, want a third", s)
	}
}

// A step has the settings' number of children, their selector and their weights, and its children say so.
func TestSettingsAreInForce(t *testing.T) {
	settings := []population.Settings{
		{}, {N: 5, Select: population.Uniform()}, {Name: "fall alone", Weights: []float64{0, 3}},
		{Explore: 1}}
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: heedful, N: 2, Seed: 1, Operators: rigged,
		Archive: population.Top(5), Policy: bandit.Shares{1, 1}, SettingsPolicy: &inOrder{}, Settings: settings})
	res := run(t, p, 110)
	names := []string{"as configured", "N 5, Uniform", "fall alone", "explore 1"}
	selectors := []string{"", "Uniform", "", "Uniform"}
	for i, g := range res.Arms[0].Generations[:40] {
		if want := []int{2, 5, 2, 2}[i%4]; len(g.Children) != want {
			t.Errorf("generation %d has %d children, want %d", g.Index, len(g.Children), want)
		}
		for _, c := range g.Children {
			if c.Labels["settings"] != names[i%4] || c.Labels["selector"] != selectors[i%4] {
				t.Errorf("child %d of generation %d has labels %v, want %q and %q", c.Index, g.Index, c.Labels, names[i%4],
					selectors[i%4])
			}
			if i%4 == 2 && c.Operator != "fall" {
				t.Errorf("child %d is by %s, which has weight 0", c.ID, c.Operator)
			}
		}
	}
}

// inOrder pulls one arm after the other.
type inOrder struct{}

func (*inOrder) Probs(p []float64, r bandit.Round) { p[r.T%len(p)] = 1 }
func (*inOrder) Update(bandit.Pull, float64)       {}
func (*inOrder) String() string                    { return "inOrder" }

// Weights change the chances as the comment says.
func TestTiltedChances(t *testing.T) {
	for _, tt := range []struct {
		reason string
		s      population.Settings
		want   float64 // the share of the first of two operators, whose chances are 0.8 and 0.2
	}{
		{"nothing is set", population.Settings{}, 0.8},
		{"weights multiply", population.Settings{Weights: []float64{1, 4}}, 0.5},
		{"a weight of 0 closes an operator", population.Settings{Weights: []float64{0, 1}}, 0},
	} {
		p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: heedful, N: 1000, Seed: 3, Operators: rigged,
			Policy: bandit.Shares{0.8, 0.2}, Settings: []population.Settings{tt.s}})
		climb := 0
		for _, c := range run(t, p, 1000).Arms[0].Generations[0].Children {
			if c.Operator == "climb" {
				climb++
			}
		}
		if share := float64(climb) / 1000; math.Abs(share-tt.want) > 4*math.Sqrt(tt.want*(1-tt.want)/1000) {
			t.Errorf("%s: the share is %.3f, want %.3f", tt.reason, share, tt.want)
		}
	}
}

// What is wrong with settings is said before anything is paid for.
func TestWrongSettings(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		wrong population.Settings
		want  string
	}{
		{population.Settings{Weights: []float64{1, nan}}, "Settings.Weights are [1 NaN]"},
		{population.Settings{Weights: []float64{-1, 2}}, "Settings.Weights are [-1 2]"},
		{population.Settings{Weights: []float64{math.Inf(1), 2}}, "Settings.Weights are [+Inf 2]"},
		{population.Settings{Weights: []float64{0, 0}}, "not all 0"},
		{population.Settings{Weights: []float64{1}}, "one for each of 2 operators"},
		{population.Settings{Weights: []float64{}}, "one for each of 2 operators"},
		{population.Settings{Explore: nan}, "Settings.Explore is NaN"},
		{population.Settings{Explore: 1.5}, "Settings.Explore is 1.5"},
		{population.Settings{N: -1}, "Settings.N is -1"},
		{population.Settings{N: evolve.MaxN + 1}, "Settings.N is"},
		{population.Settings{Select: population.Weighted(nan)}, "Weighted(NaN)"},
	} {
		_, err := population.New(population.Config{Task: numbers(t, "0"), LLM: heedful, Operators: rigged,
			Settings: []population.Settings{{}, tt.wrong}})
		if err == nil || !strings.HasPrefix(err.Error(), "population: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.wrong, err, tt.want)
		}
	}
	_, err := population.New(population.Config{Task: numbers(t, "0"), LLM: heedful, Operators: rigged,
		Breadth:  breadth.Adaptive{},
		Settings: []population.Settings{{}, {N: 3}}})
	if err == nil || !strings.Contains(err.Error(), "Breadth") {
		t.Errorf("N beside a Breadth: %v", err)
	}
	_, err = population.New(population.Config{Task: numbers(t, "0"), LLM: heedful, SettingsPolicy: bandit.Random{}})
	if err == nil || !strings.Contains(err.Error(), "no Settings") {
		t.Errorf("a policy without settings: %v", err)
	}
}

// A policy of settings that panics, or whose chances are wrong, ends the search with an error that names it.
func TestSettingsPolicyThatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		reason string
		policy *ownPolicy
		want   string
	}{
		{"it panics when it is asked", &ownPolicy{probs: func([]float64) { panic("no idea") }}, "no idea"},
		{"its chances do not sum to 1", &ownPolicy{probs: func([]float64) {}}, "sum"},
		{"it panics when it is told", &ownPolicy{probs: func(p []float64) { p[0] = 1 }, update: func() { panic("too hard") }},
			"too hard"},
	} {
		p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: heedful, N: 2, Operators: rigged,
			SettingsPolicy: tt.policy,
			Settings:       []population.Settings{{}, {Explore: 1}}})
		_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Calls: 20}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
		if !p.Done() {
			t.Errorf("%s: the search is not over", tt.reason)
		}
	}
}

// An ownPolicy does what a test says.
type ownPolicy struct {
	probs  func(p []float64)
	update func() // nil: nothing
}

func (o *ownPolicy) Probs(p []float64, _ bandit.Round) { o.probs(p) }
func (o *ownPolicy) Update(bandit.Pull, float64) {
	if o.update != nil {
		o.update()
	}
}

// A generation that brings no answer teaches nothing, and the next one has settings all the same.
func TestNothingIsLearnedWithoutAnswers(t *testing.T) {
	failing := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		late := llm.Attempt{Status: llm.Timeout}
		return llm.Reply{Attempts: []llm.Attempt{late}}, &llm.Error{Status: llm.Timeout, Err: context.DeadlineExceeded}
	})
	learned := 0
	counting := &ownPolicy{probs: func(p []float64) { p[0] = 1 }, update: func() { learned++ }}
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: failing, N: 2, Operators: rigged,
		MaxGenerations: 5,
		SettingsPolicy: counting, Settings: []population.Settings{{}, {Explore: 0.5}}})
	for range 5 {
		if _, err := p.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if learned != 0 {
		t.Errorf("%d generations without an answer are learned from", learned)
	}
}

// A government is settings, and the policy that chooses them.
type government struct {
	policy   bandit.Policy
	settings []population.Settings
}

// governments returns a fresh one of each kind.
func governments() map[string]func() government {
	return map[string]func() government{
		"by default": func() government {
			return government{settings: []population.Settings{{}, {Explore: 0.5, N: 5},
				{Weights: []float64{1, 3, 1}, Select: population.Uniform()}}}
		},
		"by one that forgets": func() government {
			return government{bandit.Discounted(&bandit.UCB1{}, 0.9),
				[]population.Settings{{}, {Explore: 0.2}, {Weights: []float64{1, 3, 1}}}}
		},
	}
}

// governedRun makes or resumes a run, and returns its children with their labels, and what was sent.
func governedRun(t *testing.T, path string, by government) (rows []string, sent int) {
	t.Helper()
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		sent++
		return climber(ctx, req)
	})
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: llm.Limit(counted, 1), N: 3, Seed: 9,
		Archive:        population.Top(4),
		SettingsPolicy: by.policy, Settings: by.settings,
		Operators: []population.Operator{population.Rewrite{}, population.Explore{}, population.Cross{}}})
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Rounds: 12},
		Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			rows = append(rows, fmt.Sprint(g.Index, c.Index, c.ID, c.Parents, c.Operator, c.Labels, c.Seed, c.Result.Score))
		}
	}
	return rows, sent
}

// A run with settings that is killed after any record of its journal comes to the same children under the same settings.
func TestSettingsAfterAKill(t *testing.T) {
	for kind, by := range governments() {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			whole := filepath.Join(dir, "whole")
			want, all := governedRun(t, whole, by())
			if settings := bySettingsOf(want); settings < 3 {
				t.Errorf("%s: %d different settings, so the test does not see them change", kind, settings)
			}
			for cut := range killtest.Every(t, whole, 1, 7) {
				got, sent := governedRun(t, cut.Path, by())
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s: killed after record %d, it comes to another result (-want +got):\n%s", kind, cut.Records, diff)
				}
				if cut.Records > cut.Of/2 && sent >= all {
					t.Errorf("%s: killed after record %d of %d, all %d calls are sent again", kind, cut.Records, cut.Of, all)
				}
			}
		})
	}
}

// bySettingsOf counts the different labels of rows.
func bySettingsOf(rows []string) int {
	var seen []string
	for _, row := range rows {
		_, label, _ := strings.Cut(row, "settings:")
		if label, _, _ = strings.Cut(label, "]"); !slices.Contains(seen, label) {
			seen = append(seen, label)
		}
	}
	return len(seen)
}

// Settings, and the policy that chooses them, are in what a journal recognizes a search by, and print alike in every process.
func TestSettingsArePrinted(t *testing.T) {
	for kind, by := range governments() {
		config := population.Config{Task: numbers(t, "0"), LLM: heedful, Seed: 2,
			Operators: []population.Operator{population.Rewrite{}, population.Explore{}, population.Cross{}}}
		plain := newPopulation(t, config).String()
		g := by()
		config.SettingsPolicy, config.Settings = g.policy, g.settings
		p := newPopulation(t, config)
		before := p.String()
		if before == plain || !strings.Contains(before, "settings by ") || strings.Contains(before, "0x") {
			t.Errorf("%s: the search prints as %s", kind, before)
		}
		run(t, p, 30)
		if after := p.String(); after != before {
			t.Errorf("%s: the search prints as %s when it begins and as %s when it ends", kind, before, after)
		}
	}
	config := population.Config{Task: numbers(t, "0"), LLM: heedful,
		Settings: []population.Settings{{Name: "x", Explore: 0.1234567}}}
	a := newPopulation(t, config).String()
	config.Settings = []population.Settings{{Name: "x", Explore: 0.1234568}}
	if b := newPopulation(t, config).String(); a == b {
		t.Error("settings that differ in a late digit print alike")
	}
}
