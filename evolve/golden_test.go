package evolve_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

var update = flag.Bool("update", false, "write the golden files")

var testModel = llm.Model{Key: "test", Name: "Test/Test-1B", ActiveParams: 1_000_000_000}

// times are the fields of results that differ from run to run.
var times = regexp.MustCompile(`"(gen_time_s|wall_time_seconds)": [-+.e0-9]+`)

// asJSON returns v as a file holds it, without the times.
func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b) // as report.Save writes
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAll(b.Bytes(), []byte(`"$1": 0`))
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
func TestGreedyGolden(t *testing.T) {
	usage := &llm.Usage{PromptTokens: 100, CachedTokens: 64, CompletionTokens: 20}
	late := llm.Attempt{Status: llm.Timeout, MaxTokens: 500, Latency: 9e9, Err: "no answer in 9 s"}
	good := llm.Attempt{Status: llm.OK, Usage: usage, MaxTokens: 500, FinishReason: "stop", Latency: 1e9, Model: "test",
		Endpoint: "http://localhost:1/v1"}
	long := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 100, CompletionTokens: 500}, MaxTokens: 500,
		FinishReason: "length", Latency: 2e9}
	failed := llm.Attempt{Status: llm.Failed, Kind: llm.KindRateLimit, MaxTokens: 500, Err: "429 Too Many Requests",
		Latency: 1e6}
	stalled := llm.Attempt{Status: llm.Stalled, Streamed: 33, MaxTokens: 500, Err: "silent for 5 s", Latency: 5e9}
	replies := []struct {
		reply llm.Reply
		err   error
	}{
		{llm.Reply{Text: "7", Attempts: []llm.Attempt{late, good}}, nil},
		{llm.Reply{Text: "seven", Attempts: []llm.Attempt{good}}, nil},
		{llm.Reply{Text: " ", Attempts: []llm.Attempt{long}}, nil},
		{llm.Reply{Attempts: []llm.Attempt{failed, failed}},
			&llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Err: os.ErrDeadlineExceeded}},
		{llm.Reply{Attempts: []llm.Attempt{stalled}}, &llm.Error{Status: llm.Stalled, Err: os.ErrDeadlineExceeded}},
		{llm.Reply{Text: "3", Attempts: []llm.Attempt{{Status: llm.OK, MaxTokens: 500}}}, nil},
	}
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "5"), N: len(replies), Seed: 11, Strict: true,
		LLM: answers(11, len(replies), func(i int) (llm.Reply, error) { return replies[i].reply, replies[i].err })})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	file := report.NewGreedy(res, report.Header{Task: "numbers", Model: testModel, T: 1, N: len(replies)}, 11)
	if want := filepath.FromSlash("numbers/test/greedy_C6_T1_N6_seed11.json"); file.Path() != want {
		t.Errorf("path %s, want %s", file.Path(), want)
	}
	golden(t, "greedy.json", asJSON(t, file))
}

// banditReport runs three arms for eight rounds.
func banditReport(t *testing.T, seed uint64) report.Bandit {
	res := mustRun(t, evolve.Config{Arms: arms(t, 3, 2), Policy: noisy{}, Seed: seed, Budget: evolve.Budget{Calls: 16}})
	return report.NewBandit(res, report.BanditHeader{
		Header: report.Header{Task: "numbers", Model: testModel, T: 8, N: 2},
		Algo:   "noisy", Policy: "noisy()", BanditSeed: seed, ArmSeeds: []uint32{40, 41, 42},
	})
}

func TestBanditGolden(t *testing.T) {
	file := banditReport(t, 3)
	if want := filepath.FromSlash("bandit/numbers/test/noisy_C16_T8_K3_seed3.json"); file.Path() != want {
		t.Errorf("path %s, want %s", file.Path(), want)
	}
	golden(t, "bandit.json", asJSON(t, file))
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

// No result holds what JSON cannot.
func TestResultsAreJSON(t *testing.T) {
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "no number"), N: 3, Seed: 2, Strict: true,
		LLM: answers(2, 3, func(i int) (llm.Reply, error) { return ok([]string{"NaN", "+Inf", "-Inf"}[i], 1), nil })})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	data := asJSON(t, report.NewGreedy(res, report.Header{Model: testModel, T: 1, N: 3}, 2))
	if !json.Valid(data) || res.Best.Result.Valid || strings.Count(string(data), "not a finite number") != 3 {
		t.Errorf("best %+v in\n%s", res.Best, data)
	}
}
