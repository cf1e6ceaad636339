package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/examples/internal/standin"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/offline"
)

func Example_populations() {
	if err := runPopulations(context.Background(), []string{"--like", "list"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// softmax       the best program, rewritten or explored from as a softmax bandit finds better
	// greedy        the best program, rewritten
	// openevolve    MAP-Elites on five islands, top and diverse programs shown (OpenEvolve)
	// shinka        weighted parents, three kinds of patch, a novelty gate (ShinkaEvolve)
	// gepa          the best program of each case, rewritten by reflection, and merged (GEPA)
	// adaevolve     islands by UCB, exploration that fades while scores rise (AdaEvolve)
	// llm-evo       mutate, cross, explore and insights under a softmax bandit (LLM-Evo)
	// evoprompt-ga  parents by roulette wheel, crossed and mutated in one prompt (EvoPrompt)
	// evoprompt-de  differential evolution: what two differ in, on the best, crossed with a third (EvoPrompt)
	// dgm           an archive of all, parents by score and by few children, and repairs (Darwin Gödel Machine)
}

func TestBadPopulationsFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		want []string // what the one line says
	}{
		{"--like alphaevolve", []string{`"alphaevolve"`, "openevolve, shinka, gepa"}},
		{"--like greedy,shinka", []string{"2 searches", "--portfolio"}},
		{"--portfolio --like shinka", []string{"1 search", "several"}},
		{"--portfolio --like shinka,greedy,shinka", []string{"shinka twice"}},
		{"--policy ei", []string{"--policy", "--portfolio"}},
		{"--bandit-seed 3", []string{"--bandit-seed", "--portfolio"}},
		{"--portfolio --policy best", []string{`"best"`, "challenge, ei, ucb"}},
		{"--portfolio --seed 4294967293", []string{"--seed is 4294967293", "4294967292"}},
		{"--seed 4294967296", []string{"--seed is 4294967296"}},
		{"--order as-they-end", []string{"--order", "--window"}},
		{"--window -1", []string{"--window is -1"}},
		{"--task nope", []string{`"nope"`}},
	} {
		err := runPopulations(t.Context(), append([]string{"--output", t.TempDir()}, strings.Fields(tt.args)...))
		var usage *cli.UsageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a usage error in one line", tt.args, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say %q", tt.args, err, want)
			}
		}
	}
}

// read reads a result under dir into r.
func read(t *testing.T, dir, name string, r any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
}

// Each search has a result that names it, and says what each operator cost.
func TestLike(t *testing.T) {
	for _, name := range peers.Names() {
		dir := t.TempDir()
		args := "--T 3 --N 4 --breadth fixed --offline-latency 0 --like " + name + " --output " + dir
		if err := runPopulations(t.Context(), strings.Fields(args)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var r report.Greedy
		read(t, dir, "cp/offline/"+name+"_C12_T3_N4_seed40.json", &r)
		calls := 0
		for _, o := range r.Operators {
			calls += o.Calls
		}
		for _, u := range r.Uses {
			calls += u.Calls
		}
		if r.Kind != name || r.Stop != string(evolve.StopBudget) || r.FLOPs.WorstCase.OK != 12 || r.FinalFitness < 0.3641 {
			t.Errorf("%s: %q stops by %s after %d calls at %v", name, r.Kind, r.Stop, r.FLOPs.WorstCase.OK, r.FinalFitness)
		}
		if calls != 12 && name != "greedy" { // whose children have no operator
			t.Errorf("%s: operators %v and asides %v make %d calls, want 12", name, r.Operators, r.Uses, calls)
		}
	}
}

// A portfolio's result names its arms.
func TestPortfolio(t *testing.T) {
	var seeds []int64
	for i := range 4 {
		seeds = append(seeds, int64(evolve.ArmSeed(40, i)))
	}
	for policy, path := range map[string]string{
		"ei":      "portfolio/cp/offline/ei_C32_T8_K4_seed0.json",
		"halving": "portfolio/cp/offline/halving_C32_T8_K4_seed0.json",
	} {
		dir := t.TempDir()
		args := "--portfolio --T 8 --N 4 --breadth fixed --offline-latency 0 --policy " + policy + " --output " + dir
		if err := runPopulations(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		var r report.Bandit
		read(t, dir, path, &r)
		want := []string{"greedy", "softmax", "llm-evo", "openevolve"}
		if !slices.Equal(r.Kinds, want) || !slices.Equal(r.ArmSeeds, seeds) ||
			r.FLOPs.WorstCase.OK != 32 || policy == "halving" && slices.Min(r.ArmPulls) == 0 {
			t.Errorf("%s: arms %v with seeds %v are pulled %v times in %d calls", policy, r.Kinds, r.ArmSeeds, r.ArmPulls,
				r.FLOPs.WorstCase.OK)
		}
		for i, arm := range r.ArmResults {
			if arm.Kind != want[i] || arm.Seed != int64(r.ArmSeeds[i]) {
				t.Errorf("%s: arm %d is %q with seed %d", policy, i, arm.Kind, arm.Seed)
			}
		}
	}
}

// server answers as the offline model does. It tells before each answer how many it was asked for.
func server(t *testing.T, before func(n int64) llmtest.Fault) *llmtest.Server {
	t.Helper()
	stand, err := offline.New(standin.All().Config())
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(req llmtest.Request) string {
			r, err := stand.Generate(context.Background(), req.Request)
			if err != nil {
				t.Error(err)
			}
			return r.Text
		},
		Fault: func(req llmtest.Request) llmtest.Fault { return before(int64(req.Ordinal)) },
	})
	t.Cleanup(srv.Close)
	return srv
}

func none(int64) llmtest.Fault { return "" }

// Stopped by Ctrl-C and resumed, a run comes to the result of one that was not, and pays for nothing twice. A run of
// other searches is not taken for it. There are no notes: near the end of a budget of calls, time decides whether they
// find room, or children.
func TestResumeOfPopulations(t *testing.T) {
	for _, tt := range notrun.Few([]struct{ flags, path, other string }{
		{"--like openevolve --T 6", "cp/qwen3-8b/openevolve_C36_T6_N6_seed40.json", "--window 4"},
		{"--portfolio --like greedy,gepa,dgm --T 6", "portfolio/cp/qwen3-8b/ei_C36_T6_K3_seed0.json",
			"--like greedy,gepa,evoprompt-de"},
		{"--model qwen3-8b,qwen3-14b --like openevolve --T 6", "cp/qwen3-8b+qwen3-14b/openevolve_C36_T6_N6_seed40.json",
			"--window 4"},
	}, 1) {
		args := "--model qwen3-8b --N 6 --breadth fixed --grace 0s " + tt.flags
		undisturbed, whole := server(t, none), t.TempDir()
		if err := runPopulations(t.Context(), strings.Fields(args+" --api-base "+undisturbed.URL+" --output "+
			whole)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		srv := server(t, func(n int64) llmtest.Fault {
			if n != 20 {
				return ""
			}
			cancel()
			return "hang"
		})
		dir := t.TempDir()
		again := args + " --api-base " + srv.URL + " --output " + dir
		if err := runPopulations(ctx, strings.Fields(again)); !errors.Is(err, cli.ErrCanceled) {
			t.Fatalf("%s: canceled: %v", tt.flags, err)
		}
		stopped := srv.Stats().Calls
		if err := runPopulations(t.Context(), strings.Fields(again+" --resume")); err != nil {
			t.Fatalf("%s: resumed: %v", tt.flags, err)
		}
		if diff := difference(t, filepath.Join(whole, tt.path), filepath.Join(dir, tt.path)); diff != "" {
			t.Errorf("%s: the resumed run comes to another result:\n%s", tt.flags, diff)
		}
		if n := srv.Stats().Calls; n > undisturbed.Stats().Calls+6 || n <= stopped {
			t.Errorf("%s: %d calls, %d of them before it was stopped; undisturbed %d", tt.flags, n, stopped,
				undisturbed.Stats().Calls)
		}
		var usage *cli.UsageError
		if err := runPopulations(t.Context(), strings.Fields(again+" --resume "+tt.other)); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), "searches") {
			t.Errorf("%s: resumed with %s: %v", tt.flags, tt.other, err)
		}
	}
}

var servers = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// difference returns what differs between two results but for times, endpoints and what calls cost that were lost.
func difference(t *testing.T, want, got string) string {
	t.Helper()
	var results [2]map[string]any
	for i, path := range []string{want, got} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		results[i] = killtest.Comparable(t, servers.ReplaceAll(data, []byte("http://server")))
	}
	return cmp.Diff(results[0], results[1])
}
