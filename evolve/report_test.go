package evolve_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

var update = flag.Bool("update", false, "write the golden files")

var testModel = llm.Model{Key: "test", Name: "Test/Test-1B", ActiveParams: 1_000_000_000}

// times are the fields of results that differ from run to run.
var times = regexp.MustCompile(`"(gen_time_s|wall_time_seconds)": [-+.e0-9]+`)

// latencies differ too, where an endpoint is real.
var latencies = regexp.MustCompile(`"latency_s": [-+.e0-9]+`)

// asJSON returns v as a file holds it, without the times.
func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	if err := evolve.SaveJSON(path, v); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAll(data, []byte(`"$1": 0`))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: (-want +got), -update accepts it:\n%s", path, diff)
	}
}

// One generation with a child of every kind, and the attempts of every kind.
func TestGreedyReportGolden(t *testing.T) {
	usage := &llm.Usage{PromptTokens: 100, CachedTokens: 64, CompletionTokens: 20}
	late := llm.Attempt{Status: llm.Timeout, MaxTokens: 500, Latency: 9e9, Err: "no answer in 9 s"}
	good := llm.Attempt{Status: llm.OK, Usage: usage, MaxTokens: 500, FinishReason: "stop", Latency: 1e9, Model: "test", Endpoint: "http://localhost:1/v1"}
	long := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 100, CompletionTokens: 500}, MaxTokens: 500, FinishReason: "length", Latency: 2e9}
	failed := llm.Attempt{Status: llm.Failed, Kind: llm.KindRateLimit, MaxTokens: 500, Err: "429 Too Many Requests", Latency: 1e6}
	stalled := llm.Attempt{Status: llm.Stalled, Streamed: 33, MaxTokens: 500, Err: "silent for 5 s", Latency: 5e9}
	replies := []struct {
		reply llm.Reply
		err   error
	}{
		{llm.Reply{Text: "7", Attempts: []llm.Attempt{late, good}}, nil},
		{llm.Reply{Text: "seven", Attempts: []llm.Attempt{good}}, nil},
		{llm.Reply{Text: " ", Attempts: []llm.Attempt{long}}, nil},
		{llm.Reply{Attempts: []llm.Attempt{failed, failed}}, &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Err: os.ErrDeadlineExceeded}},
		{llm.Reply{Attempts: []llm.Attempt{stalled}}, &llm.Error{Status: llm.Stalled, Err: os.ErrDeadlineExceeded}},
		{llm.Reply{Text: "3", Attempts: []llm.Attempt{{Status: llm.OK, MaxTokens: 500}}}, nil},
	}
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "5"), N: len(replies), Seed: 11,
		LLM: answers(11, len(replies), func(i int) (llm.Reply, error) { return replies[i].reply, replies[i].err })})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	report := evolve.NewGreedyReport(res, evolve.Header{Task: "numbers", Model: testModel, T: 1, N: len(replies)}, 11)
	if want := filepath.FromSlash("numbers/test/greedy_C6_T1_N6_seed11.json"); report.Path() != want {
		t.Errorf("path %s, want %s", report.Path(), want)
	}
	golden(t, "greedy.json", asJSON(t, report))
}

// banditReport runs three arms for eight rounds.
func banditReport(t *testing.T, seed uint64) evolve.BanditReport {
	res := mustRun(t, evolve.Config{Arms: arms(t, 3, 2), Policy: noisy{}, Seed: seed, Budget: evolve.Budget{Calls: 16}})
	return evolve.NewBanditReport(res, evolve.BanditHeader{
		Header: evolve.Header{Task: "numbers", Model: testModel, T: 8, N: 2},
		Algo:   "noisy", Policy: "noisy()", BanditSeed: seed, ArmSeeds: []uint32{40, 41, 42},
	})
}

func TestBanditReportGolden(t *testing.T) {
	report := banditReport(t, 3)
	if want := filepath.FromSlash("bandit/numbers/test/noisy_C16_T8_K3_seed3.json"); report.Path() != want {
		t.Errorf("path %s, want %s", report.Path(), want)
	}
	golden(t, "bandit.json", asJSON(t, report))
}

// Same seed, same replies, one arm in flight: the same bytes but for times, on however many cores.
func TestRerunIsByteIdentical(t *testing.T) {
	first := asJSON(t, banditReport(t, 5))
	for procs := range 4 {
		old := runtime.GOMAXPROCS(procs + 1)
		again := asJSON(t, banditReport(t, 5))
		runtime.GOMAXPROCS(old)
		if !bytes.Equal(first, again) {
			t.Errorf("run differs with %d threads:\n%s", procs+1, cmp.Diff(string(first), string(again)))
		}
	}
	if bytes.Equal(first, asJSON(t, banditReport(t, 6))) {
		t.Error("another seed gives the same result: the test sees nothing")
	}
}

// What the lists say agrees with what the arms say.
func TestBanditReportAddsUp(t *testing.T) {
	r := banditReport(t, 9)
	pulls := make([]int, r.Arms)
	next := make([]int, r.Arms)
	var total float64
	for i, arm := range r.Selections {
		gen := next[arm]
		next[arm]++
		pulls[arm]++
		total += r.PerRound[i]
		if r.PerRound[i] != r.ArmResults[arm].PerGen[gen] || r.Cumulative[i] != total {
			t.Errorf("round %d costs %v of %v, cumulative %v of %v", i, r.PerRound[i], r.ArmResults[arm].PerGen[gen], r.Cumulative[i], total)
		}
		if r.Rewards[i] != r.ArmResults[arm].Trajectory[gen+1].BestFitness || r.RunningBest[i] != max(0, slices.Max(r.Rewards[:i+1])) {
			t.Errorf("round %d: reward %v, running best %v", i, r.Rewards[i], r.RunningBest[i])
		}
	}
	if !slices.Equal(pulls, r.ArmPulls) || total != r.TotalWorstCase || total != r.FLOPs.WorstCase.TotalFLOPs {
		t.Errorf("pulls %v of %v, FLOPs %v of %v", r.ArmPulls, pulls, r.TotalWorstCase, total)
	}
	if r.FinalFitness != slices.Max(r.ArmFitness) || r.ArmSeeds[slices.Index(r.ArmFitness, r.FinalFitness)] != r.BestArmSeed {
		t.Errorf("final fitness %v of %v, best arm's seed %d", r.FinalFitness, r.ArmFitness, r.BestArmSeed)
	}
}

// No result holds what JSON cannot.
func TestReportsAreJSON(t *testing.T) {
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "no number"), N: 3, Seed: 2,
		LLM: answers(2, 3, func(i int) (llm.Reply, error) { return ok([]string{"NaN", "+Inf", "-Inf"}[i], 1), nil })})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	data := asJSON(t, evolve.NewGreedyReport(res, evolve.Header{Model: testModel, T: 1, N: 3}, 2))
	if !json.Valid(data) || res.Best.Result.Valid || strings.Count(string(data), "not a finite number") != 3 {
		t.Errorf("best %+v in\n%s", res.Best, data)
	}
}

// Where the initial program is invalid, row 0 says why, in the results of one search and of many.
func TestReportSaysWhyTheInitialProgramIsInvalid(t *testing.T) {
	for initial, want := range map[string]string{"no number": `not a number: "no number"`, "5": ""} {
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, initial), N: 2, Seed: 2, LLM: answers(2, 2, func(int) (llm.Reply, error) { return ok("7", 1), nil })})
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
		h := evolve.Header{Model: testModel, T: 1, N: 2}
		one := evolve.NewGreedyReport(res, h, 2).ArmReport
		many := evolve.NewBanditReport(res, evolve.BanditHeader{Header: h, ArmSeeds: []uint32{2}}).ArmResults[0]
		for _, arm := range []evolve.ArmReport{one, many} {
			row := arm.Trajectory[0]
			if row.Reason != want || (row.Valid == 1) != (want == "") || arm.Trajectory[1].Reason != "" {
				t.Errorf("initial program %q: row 0 has reason %q and %d valid, row 1 %q", initial, row.Reason, row.Valid, arm.Trajectory[1].Reason)
			}
		}
	}
}

func TestSaveFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "result.json")
	for _, want := range []string{"old", "new"} {
		if err := evolve.SaveFile(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := evolve.SaveFile(filepath.Join(path, "under-a-file.json"), nil); err == nil || !strings.Contains(err.Error(), "under-a-file.json") {
		t.Errorf("error %v, want one that names the path", err)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		ok   bool
	}{
		{filepath.Join(dir, "x", "y.json"), true},
		{file, true},
		{filepath.Join(file, "y.json"), false},
		{dir, false},
	} {
		if err := evolve.CheckWritable(tt.path); (err == nil) != tt.ok {
			t.Errorf("CheckWritable(%s) = %v", tt.path, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "x")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSlimKeepsWhatCounts(t *testing.T) {
	res := mustRun(t, evolve.Config{Arms: arms(t, 1, 8), Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 5}})
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			if strings.HasPrefix(c.Program, "0.") || strings.HasPrefix(c.Program, "-") {
				t.Errorf("the result keeps the text of a child: %q", c.Program)
			}
			if c.Result.Valid && !c.HasProgram() {
				t.Errorf("child %d lost that it had a program", c.Index)
			}
		}
	}
	var want eval.Candidate
	for _, g := range res.Arms[0].Generations {
		if g.Best.Better(want) {
			want = g.Best
		}
	}
	if res.Best.Program != want.Program {
		t.Errorf("best %q, want %q", res.Best.Program, want.Program)
	}
}
