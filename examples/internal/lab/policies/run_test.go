package policies

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want []string // what the one line says
	}{
		{"--policies nope", []string{`"nope"`, "ucb, exp3p, thompson, random"}},
		{"--baselines ucb,nope", []string{"--baselines", `"nope"`, "ucb, exp3p, thompson, random"}},
		{"--policies ucb,ucb", []string{`"ucb"`, "twice"}},
		{"--families nope", []string{`"nope"`, "staircase", "ht-rounded-few", "synthetic"}},
		{"--K 0", []string{"--K", `"0"`}},
		{"--N 1,x", []string{"--N", `"x"`}},
		{"--T -5", []string{"--T", `"-5"`}},
		{"--runs 0", []string{"--runs is 0"}},
		{"--in-flight 0", []string{"--in-flight is 0"}},
		{"--parallel -1", []string{"--parallel is -1"}},
		{"--delay-sigma NaN", []string{"--delay-sigma is NaN"}},
		{"--delay-sigma 1 --slots 4", []string{"--delay-sigma has no effect with --slots"}},
		{"--slots -1", []string{"--slots is -1"}},
		{"--window -1", []string{"--window is -1"}},
		{"--latency-sigma -0.5", []string{"--latency-sigma is -0.5: need 0 to 10"}},
		{"--latency-sigma NaN", []string{"--latency-sigma is NaN"}},
		{"--than nope", []string{"--than", `"nope"`, "one, one-neutral, two, three"}},
		{"--policies ei@", []string{"--policies", `breadth ""`, "adaptive, adaptive:S, or 1 to"}},
		{"--policies ei@0", []string{`breadth "0"`, "1 to"}},
		{"--policies ei@99999999", []string{`breadth "99999999"`}},
		{"--policies ei@wide", []string{`breadth "wide"`}},
		{"--policies ei@adaptive:x", []string{`breadth "adaptive:x"`, "calls that a second is worth"}},
		{"--policies ei@adaptive:+Inf", []string{`breadth "adaptive:+Inf"`}},
		{"--policies nope@4", []string{`"nope"`, "ucb, exp3p, thompson, random", "@adaptive or @N"}},
		{"--policies ei@4,ei@4", []string{`"ei@4"`, "twice"}},
		{"--baselines ei@x", []string{"--baselines", `breadth "x"`}},
		{"--families unlikely", []string{`"unlikely"`, "late-jumps", "tsp", "unlike, deciding"}},
		{"--bank " + bank + " --policies one,ei@4", []string{"bank-cp has recorded searches", "policy@breadth"}},
		{"--bank " + bank + " --slots 4", []string{"bank-cp has recorded searches", "--slots"}},
		{"--logs testdata/scores.csv --K 2 --window 4", []string{"logs has recorded searches", "--window"}},
		{"--multiples 1,0", []string{"--multiples", `"0"`}},
		{"--scores high", []string{"--scores", `"high"`}},
		{"--csv " + dir, []string{"--csv", dir}},
		{"--plots " + file, []string{"--plots", file}},
		{"--logs " + dir + "/none*", []string{"--logs", "none*"}},
		{"--logs " + file, []string{"--logs", "empty"}},
		{"--logs testdata/scores.csv --K 9", []string{"--K is 9", "4 searches"}},
		{"--bank " + dir + "/none*", []string{"--bank", "none*"}},
		{"--bank " + file, []string{"--bank", file, "empty"}},
		{"--bank " + bank + " --K 25", []string{"--K is 25", "24 searches"}},
		{"--bank " + bank + " --N 64", []string{"--N is 64", "no bank"}},
		{"--bank " + bank + " --bank " + bank, []string{bank, "another bank is of cp with N=1"}},
		{"--bank " + bank + " --logs testdata/scores.csv", []string{"--logs and --bank"}},
		{"--policies ei-prior", []string{`"ei-prior" was removed`, "ei"}},
		{"--policies ei,normal-gamma@4", []string{`"normal-gamma" was removed`, "thompson"}},
		{"--estimate " + file, []string{"--estimate", "empty"}},
		{"--estimate testdata/scores.csv", []string{"--estimate", "no bandit's result"}},
		{"--estimate testdata/scores.csv --T-cap-per-arm -1", []string{"--T-cap-per-arm is -1"}},
		{"extra", []string{`"extra"`}},
	} {
		err := Run(t.Context(), strings.Fields(c.args), io.Discard)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a usage error in one line", c.args, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say %q", c.args, err, want)
			}
		}
	}
}

// What is printed and written is the study's.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	file, plots := filepath.Join(dir, "runs.csv"), filepath.Join(dir, "plots")
	args := "--policies ucb,random --baselines random --families staircase,ht --K 3,5 --T 40 --runs 7 --seed 11 --scores 0.99 --csv " + file + " --plots " + plots
	var out bytes.Buffer
	if err := Run(t.Context(), strings.Fields(args), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"staircase K=3 N=1 T=40", "ht K=5 N=1 T=40", "all 2 families, K=5", "to 0.990",
		"not reached", "seeds 11 to 17", "by family, against the best of random", "which dealing out pulls in turn sets",
		"the best of the others has reached in nine runs of ten"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, &out)
		}
	}
	o := options{policies: "ucb,random", families: "staircase", arms: "3", children: "1", rounds: "40", runs: 7, seed: 11,
		inFlight: 1, parallel: 1, multiples: "0.5,1,2", scores: "0.99"}
	cfg, err := o.study()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := o.groups()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Settings = groups[0]
	cells, err := race.Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), cellTable(cells[0])) {
		t.Errorf("the table of a study by itself\n%s\nis not in\n%s", cellTable(cells[0]), &out)
	}
	checkCSV(t, file, cells[0])
	for _, name := range []string{"best_K3_N1_T40.svg", "regret_K3_N1_T40.svg", "best_K5_N1_T40.svg",
		"regret_K5_N1_T40.svg"} {
		checkXML(t, filepath.Join(plots, name))
	}
}

// checkCSV reads the rows back: 2 families, 2 numbers of arms, 2 policies, 7 runs, 4 levels.
func checkCSV(t *testing.T, path string, first sim.Cell) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1+2*2*2*7*4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	e := first.Entries[0]
	want := []string{"staircase", "3", "1", "40", "12", "ucb", text(e.Final[1]), text(first.Oracle[1]), text(e.Regret[1]),
		text(e.MeanRegret[1]), "2", text(first.Levels[2].Score), pullsCSV(e.First[2][1])}
	if got := rows[1+4+2]; !slices.Equal(got, want) {
		t.Errorf("the second run's third level: %v, want %v", got, want)
	}
}

func checkXML(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	paths := 0
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			paths++
		}
	}
	if paths < 2*2+2*2 { // a legend entry, and a curve in each of two panels, for each of two policies
		t.Errorf("%s: %d paths", path, paths)
	}
}

// Logged searches are arms, dealt out anew in each run.
func TestLogs(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), strings.Fields("--logs testdata/*.csv --K 3 --T 9 --runs 40 --policies ucb,random"),
		&out); err != nil {
		t.Fatal(err)
	}
	// The best search, which comes to 0.7, is one of the three in three runs of four; else 0.5 is the best.
	first, _, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, "logs K=3 N=1 T=9: the oracle comes to 0.6") {
		t.Errorf("%s", &out)
	}
}

// bank is the small bank of package sim.
const bank = "../../../../bandit/sim/testdata/cp-N1.json"

// Banks are played instead of families at their own N, or beside those that are named.
func TestBank(t *testing.T) {
	for _, tt := range []struct {
		why, args string
		want      []string // settings, in order
	}{
		{"alone", "", []string{"bank-cp K=4 N=1 T=50"}},
		{"beside a family, at the N of the bank", "--families draws", []string{"draws K=4 N=1 T=50", "bank-cp K=4 N=1 T=50"}},
		{"families have any N", "--families draws --N 8,1",
			[]string{"draws K=4 N=8 T=50", "draws K=4 N=1 T=50", "bank-cp K=4 N=1 T=50"}},
	} {
		var out bytes.Buffer
		err := Run(t.Context(), strings.Fields("--bank "+bank+" --K 4 --T 50 --runs 20 --policies ei,random "+tt.args), &out)
		var played []string
		for line := range strings.Lines(out.String()) {
			if setting, _, found := strings.Cut(line, ": the oracle comes to 0."); found {
				played = append(played, setting)
			}
		}
		if err != nil || !slices.Equal(played, tt.want) {
			t.Errorf("%s: played %q, %v, want %q", tt.why, played, err, tt.want)
		}
	}
}

// In searches that never rose there is nothing to gain.
func TestFlatBank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flat.json")
	var b bytes.Buffer
	flat := sim.Bank{Task: "cp", N: 1, Made: "test"}
	for seed := range uint64(8) {
		flat.Searches = append(flat.Searches, sim.Record(seed, slices.Repeat([]float64{0.5}, 21)))
	}
	if err := errors.Join(flat.Write(&b), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), strings.Fields("--K 2 --T 20 --runs 10 --policies ei,random,one --bank "+path),
		&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "nothing to gain") || strings.Contains(text, "NaN") ||
		strings.Contains(text, "<nil>") {
		t.Error(text)
	}
}

// A run by even chances: a policy that makes them is estimated at the log's own mean, from all its rounds.
func TestEstimate(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), strings.Fields("--policies random,ucb --estimate testdata/even.json"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in the rounds of random's run, which was 0.4500", "random  0.45 [", "6.0 of 6",
		"6 effective steps: need 30"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, &out)
		}
	}
}

// What the run earned is known, whatever can be said of others.
func TestEstimateOfPoliciesWithoutAChance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.json")
	rows := `[{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.4}, {"generation": 2, "best_fitness": 0.6}]`
	if err := os.WriteFile(path, []byte(`{"task": "cp", "algo": "random", "N": 1, "bandit_seed": 0, "selections": [1, 1], "propensities": [0.5, 0.5],
		"rewards": [0.4, 0.6], "arm_results": [{"seed": 1, "trajectory": [{"generation": 0, "best_fitness": 0.3}]}, {"seed": 2, "trajectory": `+rows+`}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--policies", "ucb", "--estimate", path}, &out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "no chance to any of the 2 pulls") ||
		!strings.Contains(text, "which was 0.5000") {
		t.Errorf("%s", text)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, nil, io.Discard); !errors.Is(err, cli.ErrCanceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Stopped, a study shows the tables over the families that it has played, and says of how many.
func TestCanceledBetweenFamilies(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &runtest.Stopper{At: "heavy-tail K=10", Stop: cancel}
	err := Run(ctx, strings.Fields("--families heavy-tail,plateaus,draws --policies ei,random --runs 3 --T 20"), out)
	for _, want := range []string{"stopped; the tables below are incomplete, of 1 of 3 families", "all 1 families"} {
		if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out.String(), want) {
			t.Errorf("%v, want %q in\n%s", err, want, out)
		}
	}
}

// Without flags a short study is played, which says so and how to play the whole one.
func TestWithoutFlags(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	err := Run(ctx, nil, &out)
	for _, want := range []string{"short study: " + cli.Typed("policies") + " " + quickFlags + "\n",
		"whole study: " + cli.Typed("policies") + " " + wholeFlags, "stopped"} {
		if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out.String(), want) {
			t.Errorf("%v, want %q in\n%s", err, want, &out)
		}
	}
}

// Delays let outcomes come late, which changes what is drawn; the arms stay the same.
func TestDelays(t *testing.T) {
	tables := make(map[string]bool)
	for _, args := range []string{"", "--in-flight 3", "--in-flight 3 --delay-sigma 2"} {
		var out bytes.Buffer
		if err := Run(t.Context(), strings.Fields("--policies thompson --families staircase --runs 5 --T 60 "+args),
			&out); err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		if !strings.HasPrefix(first, "staircase K=10 N=1 T=60: the oracle comes to 0.") {
			t.Errorf("%s: %s", args, first)
		}
		tables[rest[:strings.Index(rest, "all 1 families")]] = true
	}
	if len(tables) != 3 {
		t.Errorf("%d different tables for three ways to wait", len(tables))
	}
}

// The searches that any allocation has to beat, and how far the others end above one of them.
func TestGains(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), strings.Fields("--policies one,one-neutral,two,ei --than two --baselines one --families dead-arms,exchangeable --T 40 --runs 20"), &out); err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(out.String(), "final best less that of two, as a share of what there is to gain")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if !found || len(rows) != 6 || strings.Contains(rows[1], "seconds") {
		t.Fatalf("no table of four policies:\n%s", &out)
	}
	for i, want := range []string{"one ", "one-neutral ", "two ", "ei "} {
		if row := strings.TrimSpace(rows[2+i]); !strings.HasPrefix(row, want) ||
			(want == "two ") == strings.Contains(row, "[") {
			t.Errorf("row %q, want one of %s, with an interval but for two", row, want)
		}
	}
	// Families of formulas cannot drift, so that one search is the same either way.
	if one, neutral := strings.Fields(rows[2]), strings.Fields(rows[3]); !slices.Equal(one[1:], neutral[1:]) {
		t.Errorf("%v and %v differ", one, neutral)
	}
	out.Reset()
	if err := Run(t.Context(), strings.Fields("--policies two,ei --families draws --T 10 --runs 3"), &out); err != nil ||
		strings.Contains(out.String(), "final best less") {
		t.Errorf("compared with a policy that is not played: %v\n%s", err, &out)
	}
}

// Groups of families, and no family twice in those that decide.
func TestFamilyGroups(t *testing.T) {
	for name, want := range map[string]int{"all": 20, "synthetic": 8, "real": 12, "unlike": 16, "deciding": 7,
		"tsp,draws": 2, "deciding,real": 19} {
		if fs, err := families(name); err != nil || len(fs) != want {
			t.Errorf("%s: %d families, %v, want %d", name, len(fs), err, want)
		}
	}
}

// Breadths, slots, latencies and windows change how long runs take: 64 calls, of a second each.
func TestTime(t *testing.T) {
	for _, tt := range []struct {
		why, args string
		want      string // the seconds of each policy, as the last column has them
	}{
		{"steps of eight, with as many slots as it takes", "--policies one,ei --slots 64", "8 8"},
		{"and with four", "--policies one,ei --slots 4", "16 16"},
		{"a latency of 0 deviations is a second", "--policies one,ei --latency-sigma 0", "8 8"},
		{"breadths of their own", "--policies one@1,ei@64,one@16 --slots 8", "64 8 8"},
		{"a window is a limit like slots", "--policies one@1,one@64 --latency-sigma 0 --window 4", "64 16"},
		{"two pulls at once, each with slots for its eight children", "--policies two,three --slots 16 --in-flight 2", "4 4"},
	} {
		var out bytes.Buffer
		err := Run(t.Context(), strings.Fields("--families knapsack --N 8 --T 8 --runs 4 "+tt.args+" --than "+
			strings.FieldsFunc(tt.args, func(r rune) bool { return r == ' ' || r == ',' })[1]), &out)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		_, table, _ := strings.Cut(out.String(), "final best less")
		table, _, _ = strings.Cut(table, "\n\n")
		var seconds []string
		for i, row := range strings.Split(table, "\n") {
			if words := strings.Fields(row); i > 1 && len(words) > 0 {
				seconds = append(seconds, words[len(words)-1])
			}
		}
		if got := strings.Join(seconds, " "); got != tt.want {
			t.Errorf("%s: %s s, want %s:\n%s", tt.why, got, tt.want, &out)
		}
	}
}

// A name with a breadth is the policy of the name, with that breadth.
func TestWidened(t *testing.T) {
	all := new(options).contenders()
	for name, want := range map[string]evolve.Breadth{
		"ei": nil, "one@1": breadth.Fixed(1), "ei@adaptive": breadth.Adaptive{},
		"two@adaptive:2.5": breadth.Adaptive{Second: 2.5},
	} {
		c, err := widened(all, name)
		policy, _, _ := strings.Cut(name, "@")
		arms := map[string]int{"one": 1, "two": 2}[policy]
		if err != nil || c.Name != name || c.Breadth != want || c.Arms != arms {
			t.Errorf("%s: %+v, %v, want breadth %v and %d arms", name, c, err, want, arms)
		}
	}
}
