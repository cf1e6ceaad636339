package compare

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// command runs the program and returns what it prints.
func command(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Run(ctx, args, &out)
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

var small = []string{"--families", "additive,few", "--searches", "baselines,llm-evo,portfolio-ei", "--calls", "48",
	"--seeds", "4"}

func TestTablesOfAStudy(t *testing.T) {
	out, err := command(t, t.Context(), small...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"80 runs made", "Mean true score at equal calls (48), 4 seeds", "additive", "few", "llm-evo", "portfolio-ei",
		"Above greedy-1 on the same seeds", "+0.000 ±0.000", "Calls until nine of ten runs", "Loss to the best single search",
		"of 2",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestEqualFLOPsAreSaid(t *testing.T) {
	out, err := command(t, t.Context(), "--families", "additive", "--searches", "greedy-1,copies", "--calls", "48",
		"--seeds", "1", "--flops")
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

// A family that not all searches have run on does not keep the table of the others from being shown.
func TestCancelLeavesFamiliesOut(t *testing.T) {
	runs := []compare.Run{
		{Family: "additive", Search: "a"}, {Family: "additive", Search: "b"}, {Family: "additive", Search: "a", Seed: 1},
		{Family: "few", Search: "a"}, {Family: "few", Search: "b", Seed: 1},
	}
	if got := wholeFamilies(runs, 2); !slices.EqualFunc(got, runs[:3], func(a, b compare.Run) bool {
		return a.Family == b.Family && a.Search == b.Search && a.Seed == b.Seed
	}) {
		t.Errorf("got %+v", got)
	}
	if got := wholeFamilies(runs, 3); len(got) != len(runs) {
		t.Errorf("of no whole family: %d runs, want all %d", len(got), len(runs))
	}
}

// What was read is what the file had, though not all of it is shown.
func TestCancelSaysWhatWasRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := &runsFile{known: []compare.Run{{Family: "additive", Search: "a"}, {Family: "additive", Search: "b"},
		{Family: "few", Search: "a"}}}
	cfg := compare.Config{Families: compare.Families()[:1],
		Searches: []compare.Search{compare.Greedy("a", evolve.GreedyConfig{}),
			compare.Greedy("b", evolve.GreedyConfig{})}, Calls: 1, Skip: func(string, string, uint64) bool { return true }}
	var out bytes.Buffer
	runs, stopped, err := play(ctx, cfg, file, &out)
	if err != nil || !stopped || len(runs) != 2 || !strings.Contains(out.String(), ", 3 read\n") {
		t.Errorf("%d runs, %v:\n%s", len(runs), err, &out)
	}
}

// Also a study of noise.
func TestCancelOfNoise(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := command(t, ctx, "--noise", "--calls", "8", "--seeds", "2")
	if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out, "stopped; the table is incomplete, of 0 of ") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// Without flags a short study is played, which says so and how to play the whole one.
func TestWithoutFlags(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := command(t, ctx)
	for _, want := range []string{"short study: " + cli.Typed("compare") + " " + quickFlags + "\n",
		"whole study: " + cli.Typed("compare") + " " + wholeFlags, "stopped"} {
		if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out, want) {
			t.Errorf("%v, want %q in\n%s", err, want, out)
		}
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
		{[]string{"--ab", "softmax"}, "--ab: need two"},
		{[]string{"--ab"}, "--ab: need two"},
		{[]string{"--ab", "softmax", "--calls", "8"}, "--ab: need two"},
		{[]string{"--ab", "softmax", "halves", "more"}, `unexpected argument "more"`},
		{[]string{"--ab", "softmax", "halves", "--ab", "a", "b"}, "give it once"},
		{[]string{"--ab=softmax", "halves"}, "give it once"},
		{[]string{"--ab", "softmax", "luck"}, `"luck" is neither a search nor key=value`},
		{[]string{"--ab", "softmax", "luck=1"}, `"luck=1" is neither`},
		{[]string{"--ab", "softmax", "n=1,n=2"}, "n is there twice"},
		{[]string{"--ab", "softmax", "n=0"}, "n=0: need a whole number"},
		{[]string{"--ab", "softmax", "operators=rewrite+luck"}, `unknown operator "luck"`},
		{[]string{"--ab", "softmax", "weights=1:x"}, `"x" is no weight`},
		{[]string{"--ab", "softmax", "weights=1:NaN"}, `"NaN" is no weight`},
		{[]string{"--ab", "softmax", "weights=1:-1"}, `"-1" is no weight`},
		{[]string{"--ab", "softmax", "weights=1:1:1"}, "one for each of 2 operators"},
		{[]string{"--ab", "softmax", "weights=0:0"}, "not all 0"},
		{[]string{"--ab", "softmax", "weights=1:1,policy=ucb1"}, "leave one out"},
		{[]string{"--ab", "softmax", "policy=luck"}, "unknown policy"},
		{[]string{"--ab", "softmax", "credit=lift"}, "lift:SCALE"},
		{[]string{"--ab", "softmax", "archive=top:0"}, "need top:N"},
		{[]string{"--ab", "softmax", "archive=top:1e300"}, "is no number"},
		{[]string{"--ab", "softmax", "select=epsilon:2"}, "Choice(2, "},
		{[]string{"--ab", "softmax", "meta=luck"}, "need none, bandit"},
		{[]string{"--timing"}, "--timing and --tails need --noise"},
		{[]string{"--noise", "--flops"}, "--flops has no effect with --noise"},
		{[]string{"--noise", "--prices"}, "--prices has no effect with --noise"},
		{[]string{"--noise", "--timing", "--tails"}, "--tails has no effect with --timing"},
		{[]string{"--prices", "--out", "x.csv"}, "--out has no effect with --prices"},
		{[]string{"--ab", "softmax", "halves", "--prices"}, "--ab has no effect with --prices"},
		{[]string{"--ab", "softmax", "halves", "--noise", "--timing"}, "--ab has no effect with --timing"},
		{[]string{"--ab", "softmax", "halves", "--searches", "all"}, "--searches has no effect with --ab"},
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
	for _, g := range offered() {
		if len(g.Searches) == 0 {
			t.Errorf("group %s is empty", g.Name)
		}
	}
	twice, err := chosen("searches", "baselines,greedy,all", of, all)
	if err != nil || len(twice) != len(all) {
		t.Errorf("%d searches of %d: %v", len(twice), len(all), err)
	}
}

// A study of noise in which a search gains nothing somewhere shows what was made nevertheless.
func TestStudyOfNoise(t *testing.T) {
	out, err := command(t, t.Context(), "--noise", "--seeds", "2", "--calls", "8")
	if err != nil || strings.Count(out, "words-1 ")+strings.Count(out, "in words-1:") != 3 ||
		!strings.Contains(out, "Without a ratio:") {
		t.Errorf("%v:\n%s", err, out)
	}
	if _, err := command(t, t.Context(), "--noise", "--seeds", "1"); err == nil ||
		!strings.Contains(err.Error(), "--noise: need --seeds of at least 2") {
		t.Error(err)
	}
}

// --ab plays two searches, by name or by configuration, and says which is better; two that are the same do not tie by
// sharing their luck.
func TestPair(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want []string
	}{
		{"greedy-1", "best-of-n", []string{"A: greedy-1\nB: best-of-n\n", "A − B over 2 families at equal calls (64)",
			"A is better, by 0."}},
		{"best-of-n", "archive=drift,meta=bandit", []string{"B is better, by 0."}},
		{"n=2,meta=bandit-still", "n=2,meta=bandit-still",
			[]string{"B: n=2,meta=bandit-still (again)", "do not decide", "seeds for each family"}},
	} {
		out, err := command(t, t.Context(), "--ab", tt.a, tt.b, "--families", "additive,traps", "--calls", "64", "--runs",
			"8", "--seed", "100")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s against %s lacks %q:\n%s", tt.a, tt.b, want, out)
			}
		}
	}
}

// Every key has a value that can be played.
func TestConfigurations(t *testing.T) {
	for _, list := range []string{"operators=rewrite+explore+cross+self-cross+merge,archive=fronts", "weights=6:1",
		"policy=ucb1", "policy=thompson,credit=rank",
		"policy=random", "credit=lift:0.1,archive=all:50,select=uniform", "archive=top:9,select=power-law:2",
		"archive=top:9,select=weighted:5", "archive=top:9,select=tournament:3,n=4",
		"archive=top:9,select=epsilon:0.2,meta=bandit-still", "meta=bandit",
		"select=best,meta=none,credit=improved,policy=softmax"} {
		if out, err := command(t, t.Context(), "--ab", "greedy-1", list, "--families", "regress", "--calls", "12", "--runs",
			"2"); err != nil || !strings.Contains(out, "B: "+list) {
			t.Errorf("%s: %v\n%s", list, err, out)
		}
	}
}

// Ctrl-C leaves what there is: the runs that both have, or that there are none.
func TestCancelOfAPair(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := command(t, ctx, "--ab", "greedy-1", "softmax", "--families", "additive", "--calls", "8", "--runs", "2")
	if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out, "no comparison: ") {
		t.Errorf("%v:\n%s", err, out)
	}
	path := filepath.Join(t.TempDir(), "runs.csv")
	if _, err := command(t, t.Context(), "--ab", "greedy-1", "softmax", "--families", "additive", "--calls", "8", "--runs",
		"2", "--out", path); err != nil {
		t.Fatal(err)
	}
	out, err = command(t, ctx, "--ab", "greedy-1", "softmax", "--families", "additive", "--calls", "8", "--runs", "3",
		"--out", path)
	if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out, "stopped") ||
		!strings.Contains(out, "A − B over 1 families") {
		t.Errorf("%v:\n%s", err, out)
	}
}
