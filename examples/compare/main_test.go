package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// command runs the program and returns what it prints.
func command(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(ctx, args, &out)
	return out.String(), err
}

// tables returns what is printed after the line that says how many runs were made.
func tables(t *testing.T, output string) string {
	t.Helper()
	_, rest, found := strings.Cut(output, " read\n")
	if !found {
		t.Fatalf("no line says how many runs were made:\n%s", output)
	}
	return rest
}

var small = []string{"--families", "additive,few", "--searches", "baselines,llm-evo,portfolio-ei", "--calls", "48", "--seeds", "4"}

func TestTablesOfAStudy(t *testing.T) {
	out, err := command(t, t.Context(), small...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"80 runs made", "Mean true score at equal calls (48), 4 seeds", "additive", "few", "llm-evo", "portfolio-ei",
		"Above greedy-1 on the same seeds", "+0.000 ±0.000", "Calls until nine of ten runs", "Loss to the best single search", "of 2",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestEqualFLOPsAreSaid(t *testing.T) {
	out, err := command(t, t.Context(), "--families", "additive", "--searches", "greedy-1,copies", "--calls", "48", "--seeds", "1", "--flops")
	if err != nil || !strings.Contains(out, "at equal FLOPs (48)") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A study that was stopped goes on from its file: a torn last row is made again, no run is made twice, and the tables are
// those of a study that was not stopped. Runs of another budget are left alone.
func TestStudyGoesOnFromItsFile(t *testing.T) {
	whole, err := command(t, t.Context(), small...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "runs.csv")
	args := append(small, "--out", path)
	if _, err := command(t, t.Context(), append(args, "--calls", "8", "--seeds", "1")...); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, t.Context(), append(args, "--seeds", "2")...); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-30], 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, t.Context(), args...)
	if err != nil || !strings.HasPrefix(out, "41 runs made") || !strings.Contains(out, ", 39 read\n") {
		t.Errorf("%v: want 41 runs made and 39 read:\n%s", err, out)
	}
	if tables(t, out) != tables(t, whole) {
		t.Errorf("tables of a study that was stopped:\n%s\nand of one that was not:\n%s", out, whole)
	}
	out, err = command(t, t.Context(), args...)
	if err != nil || !strings.HasPrefix(out, "0 runs made") || tables(t, out) != tables(t, whole) {
		t.Errorf("%v: with all runs in the file:\n%s", err, out)
	}
}

// Ctrl-C keeps what there is.
func TestCancelKeepsRuns(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "runs.csv")
	out, err := command(t, ctx, append(small, "--out", path)...)
	if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out, "stopped") {
		t.Errorf("%v:\n%s", err, out)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), "family,search,seed,") {
		t.Errorf("the file: %v, %q", err, data)
	}
}

func TestWrongFlags(t *testing.T) {
	folder := t.TempDir()
	other := filepath.Join(folder, "other.csv")
	if err := os.WriteFile(other, []byte("a,b\n1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--families", "steep"}, `--families: there is no "steep": it is one of additive, traps`},
		{[]string{"--searches", "greedy,luck"}, `--searches: there is no "luck"`},
		{[]string{"--baseline", "luck"}, `--baseline: there is no search "luck"`},
		{[]string{"--calls", "0"}, "--calls is 0"},
		{[]string{"--seeds", "-1"}, "--seeds is -1"},
		{[]string{"--parallel", "0"}, "--parallel is 0"},
		{[]string{"--out", folder}, "--out: "},
		{[]string{"--out", other}, `it begins with "a,b"`},
	} {
		_, err := command(t, t.Context(), tt.args...)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
		}
	}
}

// Every search that can be asked for by name is played once, whatever groups it is in.
func TestSearchesAreListedOnce(t *testing.T) {
	all, of := groups()
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			t.Errorf("%s stands twice", s.Name)
		}
		seen[s.Name] = true
	}
	for _, name := range groupNames {
		if len(of[name]) == 0 {
			t.Errorf("group %s is empty", name)
		}
	}
	twice, err := chosen("searches", "baselines,greedy,all", of, all)
	if err != nil || len(twice) != len(all) {
		t.Errorf("%d searches of %d: %v", len(twice), len(all), err)
	}
}
