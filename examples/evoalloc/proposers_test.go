package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/history"
)

// Models, operators and prompts are proposers, of which a bandit draws one for each child of greedy search, of a bandit
// and of a population. What was drawn, with what chance and what was learned of it stands in the result, and a run that
// is resumed draws the same.
func TestProposers(t *testing.T) {
	dir := t.TempDir()
	bold := filepath.Join(dir, "bold.txt")
	if err := os.WriteFile(bold, []byte("Be bold.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	common := "--N 4 --offline-latency 0 --output " + dir + " "
	for i, tt := range []struct {
		command func(context.Context, []string) error
		args    string
		names   string
	}{
		{runGreedy, "--model offline-small,offline-large", "offline-small offline-large"},
		{runGreedy, "--operators rewrite,tune --prompt " + bold + " --seed 41", "rewrite tune bold"},
		{runBandit, "--model offline-small=0.5,offline-splice=0.5 --operators tune,explore --n-arms 2",
			"offline-small/tune offline-small/explore offline-splice/tune offline-splice/explore"},
		{runPopulations, "--like softmax --model offline-small,offline-large",
			"rewrite/offline-small rewrite/offline-large explore/offline-small explore/offline-large"},
	} {
		run := func(more, result string) []byte {
			t.Helper()
			args := strings.Fields(common + tt.args + more + " --journal " + filepath.Join(dir, result))
			if err := tt.command(t.Context(), args); err != nil {
				t.Fatalf("%s: %v", tt.args, err)
			}
			text, err := os.ReadFile(filepath.Join(dir, result))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		name := string(rune('a'+i)) + ".journal"
		whole := run(" --T 12", name)
		log, err := history.Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		drawn := map[string]int{}
		for _, c := range log.Children {
			if drawn[c.Proposer]++; c.Propensity <= 0 || c.Propensity > 1 || c.Credit == nil {
				t.Fatalf("%s: child %+v", tt.args, c)
			}
		}
		for name := range strings.FieldsSeq(tt.names) {
			if drawn[name] == 0 {
				t.Errorf("%s: %v, want some of %s", tt.args, drawn, name)
			}
		}
		lines, cut := strings.SplitAfter(string(whole), "\n"), filepath.Join(dir, "cut-"+name)
		if err := os.WriteFile(cut, []byte(strings.Join(lines[:len(lines)/2], "")), 0o644); err != nil {
			t.Fatal(err)
		}
		_ = run(" --T 12 --resume", "cut-"+name)
		again, err := history.Read(cut)
		if err != nil {
			t.Fatal(err)
		}
		what := func(of []history.Child) (all []string) {
			for _, c := range of {
				all = append(all, fmt.Sprint(c.Arm, c.Step, c.Proposal.Proposer, c.Propensity, *c.Credit, c.Program))
			}
			return all
		}
		if diff := cmp.Diff(what(log.Children), what(again.Children)); diff != "" {
			t.Errorf("%s: resumed\n%s", tt.args, diff)
		}
	}
	for _, args := range []string{"--operators rewrite,rewrite", "--operators guess", "--prompt " + dir + "/none", "--model offline-bold"} {
		refused(t, args, runGreedy(t.Context(), strings.Fields(common+args)), strings.Fields(args)[0])
	}
}
