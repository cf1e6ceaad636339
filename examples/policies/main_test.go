package main

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
	"github.com/evoalloc/evoalloc/examples/internal/cli"
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
		{"--bank " + bank + " --policies ei-prior", []string{`"ei-prior"`}},
		{"--estimate " + file, []string{"--estimate", "empty"}},
		{"--estimate testdata/scores.csv", []string{"--estimate", "no bandit's result"}},
		{"--estimate testdata/scores.csv --T-cap-per-arm -1", []string{"--T-cap-per-arm is -1"}},
		{"extra", []string{`"extra"`}},
	} {
		err := run(t.Context(), strings.Fields(c.args), io.Discard)
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
	if err := run(t.Context(), strings.Fields(args), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"staircase K=3 N=1 T=40", "ht K=5 N=1 T=40", "all 2 families, K=5", "to 0.990", "not reached", "seeds 11 to 17", "by family, against the best of random", "which dealing out pulls in turn sets", "the best of the others has reached in nine runs of ten"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, &out)
		}
	}
	cfg, o := sim.StudyConfig{}, options{policies: "ucb,random", families: "staircase", arms: "3", children: "1", rounds: "40", runs: 7, seed: 11, inFlight: 1, parallel: 1, multiples: "0.5,1,2", scores: "0.99"}
	cfg, err := o.study()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := o.groups()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Settings = groups[0]
	cells, err := sim.Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), cellTable(cells[0])) {
		t.Errorf("the table of a study by itself\n%s\nis not in\n%s", cellTable(cells[0]), &out)
	}
	checkCSV(t, file, cells[0])
	for _, name := range []string{"best_K3_N1_T40.svg", "regret_K3_N1_T40.svg", "best_K5_N1_T40.svg", "regret_K5_N1_T40.svg"} {
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
	want := []string{"staircase", "3", "1", "40", "12", "ucb", text(e.Final[1]), text(first.Oracle[1]), text(e.Regret[1]), text(e.MeanRegret[1]), "2", text(first.Levels[2].Score), pullsCSV(e.First[2][1])}
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
	if err := run(t.Context(), strings.Fields("--logs testdata/*.csv --K 3 --T 9 --runs 40 --policies ucb,random"), &out); err != nil {
		t.Fatal(err)
	}
	// The best search, which comes to 0.7, is one of the three in three runs of four; else 0.5 is the best.
	first, _, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, "logs K=3 N=1 T=9: the oracle comes to 0.6") {
		t.Errorf("%s", &out)
	}
}

// bank is the small bank of package sim.
const bank = "../../bandit/sim/testdata/cp-N1.json"

// Banks are played instead of families at their own N, or beside those that are named.
func TestBank(t *testing.T) {
	for _, tt := range []struct {
		why, args string
		want      []string // settings, in order
	}{
		{"alone", "", []string{"bank-cp K=4 N=1 T=50"}},
		{"beside a family, at the N of the bank", "--families draws", []string{"draws K=4 N=1 T=50", "bank-cp K=4 N=1 T=50"}},
		{"families have any N", "--families draws --N 8,1", []string{"draws K=4 N=8 T=50", "draws K=4 N=1 T=50", "bank-cp K=4 N=1 T=50"}},
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields("--bank "+bank+" --K 4 --T 50 --runs 20 --policies ei,random "+tt.args), &out)
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

// A run by even chances: a policy that makes them is estimated at the log's own mean, from all its rounds.
func TestEstimate(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), strings.Fields("--policies random,ucb --estimate testdata/even.json"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in the rounds of random's run, which was 0.4500", "random  0.45 [", "6.0 of 6"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, &out)
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, nil, io.Discard); !errors.Is(err, cli.ErrCanceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Delays let outcomes come late, which changes what is drawn; the arms stay the same.
func TestDelays(t *testing.T) {
	tables := make(map[string]bool)
	for _, args := range []string{"", "--in-flight 3", "--in-flight 3 --delay-sigma 2"} {
		var out bytes.Buffer
		if err := run(t.Context(), strings.Fields("--policies thompson --families staircase --runs 5 --T 60 "+args), &out); err != nil {
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
