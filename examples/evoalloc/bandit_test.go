package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/offline"
)

func TestBadBanditFlags(t *testing.T) {
	t.Setenv("LLM_API_BASE", "")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want []string // what the one line says
	}{
		{"--task nope", []string{`"nope"`, "cp, mmd, ht"}},
		{"--model nope", []string{`"nope"`, "offline, qwen3-8b, qwen3-14b, llama-8b"}},
		{"--algo nope", []string{`"nope"`, "challenge, ei, ucb, exp3p, thompson, random"}},
		{"--T 0", []string{"--T is 0"}},
		{"--max-stalls 0", []string{"--max-stalls is 0"}},
		{"--N 0", []string{"--N is 0"}},
		{"--breadth wide", []string{`"wide"`, "fixed, adaptive"}},
		{"--second -1", []string{"--second is -1"}},
		{"--second NaN", []string{"--second is NaN"}},
		{"--second 5 --breadth fixed", []string{"--second", "--breadth fixed"}},
		{"--n-arms -3", []string{"--n-arms is -3"}},
		{"--parallel-llm 0", []string{"--parallel-llm is 0"}},
		{"--in-flight 0", []string{"--in-flight is 0"}},
		{"--T-cap-per-arm -1", []string{"--T-cap-per-arm is -1"}},
		{"--T two", []string{`"two"`, "--help"}},
		{"--arm-seed-base 4294967290", []string{"--arm-seed-base is 4294967290"}},
		{"--N 100000000", []string{"--N is 100000000", "100000"}},
		{"--T 9223372036854775807", []string{"--T is 9223372036854775807"}},
		{"--n-arms 100000000", []string{"--n-arms is 100000000"}},
		{"--api-base http://127.0.0.1:1/v1", []string{"--api-base", "--model"}},
		{"--model qwen3-8b --api-base http://127.0.0.1:1/v1 --stream=false --min-rate 5", []string{"--min-rate", "--stream"}},
		{"--model qwen3-8b --params-active -3", []string{`"-3" is not a whole number above 0`}},
		{"--model qwen3-8b,qwen3-8b", []string{"qwen3-8b stands there twice", "--api-base"}},
		{"--model qwen3-8b,", []string{"--model has an empty key"}},
		{"--model offline,qwen3-8b", []string{"stand-ins need no endpoint", "name them without others"}},
		{"--model qwen3-8b,nope", []string{`unknown model "nope"`, "--params-active"}},
		{"--model a,b --model-name A", []string{"--model-name has 1 names and --model 2 keys"}},
		{"--model a,b --model-name A,B --params-active 5", []string{"--params-active has 1 numbers and --model 2 keys"}},
		{"--model qwen3-8b,llama-8b --api-base qwen3-8b=http://a/v1",
			[]string{"no URL for the model llama-8b", "llama-8b=URL"}},
		{"--model qwen3-8b,llama-8b --api-base qwen=http://a/v1,http://b/v1", []string{`"qwen" is none of the models`}},
		{"--model qwen3-8b,llama-8b --task text --api-base http://a/v1", []string{"--task text", "one model"}},
		{"--model ../up --model-name x --params-active 5", []string{`"../up"`}},
		{"--journal " + filepath.Join(file, "journal"), []string{file}},
		{"extra", []string{`"extra"`}},
		{"--resume --anew", []string{"--resume", "--anew"}},
		{"--no-such-flag", []string{"no-such-flag"}},
		{"--model qwen3-8b", []string{"LLM_API_BASE"}},
		{"--model qwen3-8b --api-base localhost:8000/v1", []string{"localhost:8000/v1"}},
		{"--model qwen3-8b --api-base http://", []string{"--api-base", "http://"}},
		{"--model qwen3-8b --api-base http://u:secret@a/v1,", []string{"--api-base", "http://u:xxxxx@a/v1,", "place 2"}},
		{"--model qwen3-8b --api-base http://a/v1,http://b/v1,http://a/v1/",
			[]string{"--api-base", "http://b/v1", "places 1 and 3"}},
		{"--task ../../task/folder/testdata/bins --runtime js", []string{"--runtime", "../../task/folder/testdata/bins"}},
		{"--output " + file, []string{file}},
	} {
		err := runBandit(t.Context(), append([]string{"--output", t.TempDir()}, strings.Fields(tt.args)...))
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

// What is wrong with the variable is told of the variable.
func TestBadEnvironment(t *testing.T) {
	for value, want := range map[string]string{
		"localhost:8000/v1":           `LLM_API_BASE "localhost:8000/v1"`,
		"http://a/v1, http://a/v1":    `LLM_API_BASE "http://a/v1,http://a/v1"`,
		",http://a/v1":                `LLM_API_BASE ",http://a/v1": there is no URL in place 1`,
		"http://a/v1,localhost:80/v1": `LLM_API_BASE "localhost:80/v1"`,
	} {
		t.Setenv("LLM_API_BASE", value)
		var usage *cli.UsageError
		if err := runBandit(t.Context(), strings.Fields("--model qwen3-8b --output "+t.TempDir())); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", value, err, want)
		}
	}
}

// saved reads the one result under dir.
func saved(t *testing.T, dir, pattern string) report.Bandit {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("results %v, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var r report.Bandit
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSuffix(found[0], ".json") + ".js"
	if text, err := os.ReadFile(program); err != nil || len(text) == 0 {
		t.Errorf("the best program: %v", err)
	}
	return r
}

func TestBanditSavesItsResult(t *testing.T) {
	for _, algo := range cli.PolicyKeys() {
		dir := t.TempDir()
		args := "--T 3 --N 4 --n-arms 3 --breadth fixed --offline-latency 0 --algo " + algo + " --output " + dir
		if err := runBandit(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		r := saved(t, dir, algo+"_C12_T3_K3_seed0.json")
		if r.FinalFitness < 0.364101 || len(r.Selections) != 3 || r.FLOPs.WorstCase.OK != 12 || r.Stop != string(evolve.StopBudget) {
			t.Errorf("%s: fitness %v after %d rounds, stopped by %s", algo, r.FinalFitness, len(r.Selections), r.Stop)
		}
	}
}

// Whatever decides how many children a generation has, the budget is T·N calls, N is the most, and the result says
// what it was.
func TestBreadths(t *testing.T) {
	for _, tt := range []struct{ flags, file, says, reason string }{
		{"", "challenge_C96_T6_K3_adaptive_seed0.json", "Adaptive(second=0, waste=0.15, 1..16, kept)", "the default"},
		{"--breadth adaptive --second 1000", "challenge_C96_T6_K3_adaptive_seed0.json",
			"Adaptive(second=1000, waste=0.15, 1..16, kept)", "wider where time is worth something"},
		{"--breadth fixed", "challenge_C96_T6_K3_seed0.json", "", "the paper's"},
		{"--window 4", "challenge_C96_T6_K3_seed0.json", "", "with a window wide steps waste little"},
	} {
		dir := t.TempDir()
		args := "--T 6 --N 16 --n-arms 3 --offline-latency 1ms --output " + dir + " " + tt.flags
		if err := runBandit(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		r := saved(t, dir, tt.file)
		granted := 0
		for _, n := range r.Granted {
			granted += n
		}
		if r.Breadth != tt.says || r.FLOPs.WorstCase.OK != 96 || granted != 96 || slices.Max(r.Granted) > 16 {
			t.Errorf("%s: %s: breadth %q with calls %v", tt.flags, tt.reason, r.Breadth, r.Granted)
		}
		if fixed := slices.Min(r.Granted) == 16; fixed != (tt.says == "") {
			t.Errorf("%s: %s: calls %v", tt.flags, tt.reason, r.Granted)
		}
		var usage *cli.UsageError
		if err := runBandit(t.Context(), strings.Fields(args+" --resume --second 3 --breadth adaptive")); tt.says != "" &&
			strings.Contains(tt.file, "adaptive") && (!errors.As(err, &usage) || !strings.Contains(err.Error(), "second=3")) {
			t.Errorf("%s: resumed with another value of time: %v", tt.flags, err)
		}
	}
}

// Against a real endpoint, here one that answers with the program it is shown.
func TestRunOverHTTP(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Key: "secret"})
	defer srv.Close()
	t.Setenv("LLM_API_BASE", srv.URL)
	t.Setenv("LLM_API_KEY", "secret")
	dir := t.TempDir()
	if err := runBandit(t.Context(), strings.Fields("--model qwen3-8b --T 4 --N 4 --n-arms 2 --task mmd --output "+
		dir)); err != nil {
		t.Fatal(err)
	}
	if r := saved(t, dir, "challenge_C16_T4_K2_adaptive_seed0.json"); r.Model != "qwen3-8b" || r.Active != 8_190_726_144 ||
		r.FLOPs.WorstCase.OK != 16 {
		t.Errorf("report %+v", r.FLOPs.WorstCase)
	}
	if srv.Stats().Calls != 16 {
		t.Errorf("%d calls, want 16", srv.Stats().Calls)
	}
}

// A run that is stopped while its searches are under way.
func TestCancelSavesAPartialResult(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // it takes days: there is time to see that it has begun
		for ctx.Err() == nil && !reported(dir) {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	err := runBandit(ctx, strings.Fields("--T 10000000 --N 8 --n-arms 3 --offline-latency 20ms --grace 0s --output "+dir))
	if !errors.Is(err, cli.ErrCanceled) {
		t.Fatalf("error %v", err)
	}
	if r := saved(t, dir, "*.partial.json"); r.Stop != string(evolve.StopCanceled) || len(r.Selections) == 0 {
		t.Errorf("stopped by %s after %d rounds", r.Stop, len(r.Selections))
	}
}

// reported tells whether a run under dir has come to the end of a round.
func reported(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", "*.journal"))
	for _, path := range found {
		run, _ := history.Read(path) // its first record may be under way
		if run != nil && slices.ContainsFunc(run.Rounds, func(r history.Round) bool { return r.Over }) {
			return true
		}
	}
	return false
}

// editing is a server that answers as the offline model does, and meets a request by ending the
// context that it is given, and no answer.
func editing(t *testing.T, ordinal int) (*llmtest.Server, *context.CancelFunc) {
	t.Helper()
	stand, err := offline.New(offline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(req llmtest.Request) string {
			r, err := stand.Generate(context.Background(), req.Request)
			if err != nil {
				t.Error(err)
			}
			return r.Text
		},
		Fault: func(req llmtest.Request) llmtest.Fault {
			if req.Ordinal != ordinal || cancel == nil {
				return ""
			}
			cancel()
			return "hang"
		},
	})
	t.Cleanup(srv.Close)
	return srv, &cancel
}

// Stopped and resumed, a run comes to the result of one that was not; made again before it is over it is
// refused without --resume, and with it prints the result.
func TestResume(t *testing.T) {
	const args = "--model qwen3-8b --T 8 --N 8 --n-arms 3 --grace 0s --api-base "
	whole, dir := t.TempDir(), t.TempDir()
	undisturbed, _ := editing(t, 0)
	if err := runBandit(t.Context(), strings.Fields(args+undisturbed.URL+" --output "+whole)); err != nil {
		t.Fatal(err)
	}
	srv, stop := editing(t, 30)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	*stop = cancel
	again := args + srv.URL + " --output " + dir
	if err := runBandit(ctx, strings.Fields(again)); !errors.Is(err, cli.ErrCanceled) {
		t.Fatalf("error %v", err)
	}
	if err := runBandit(t.Context(), strings.Fields(again)); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("an existing journal was not refused: %v", err)
	}
	for range 2 {
		if err := runBandit(t.Context(), strings.Fields(again+" --resume")); err != nil {
			t.Fatal(err)
		}
		want, got := saved(t, whole, "*.json"), saved(t, dir, "*.json")
		if !slices.Equal(want.Selections, got.Selections) || !slices.Equal(want.Rewards, got.Rewards) ||
			got.Stop != string(evolve.StopBudget) {
			t.Errorf("resumed: %v with %v, want %v with %v", got.Selections, got.Rewards, want.Selections, want.Rewards)
		}
	}
	var usage *cli.UsageError
	err := runBandit(t.Context(), strings.Fields(again+" --resume --eval-timeout 9s"))
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "put the flags back") ||
		!strings.Contains(err.Error(), "--eval-timeout 9s --anew") {
		t.Errorf("another evaluation limit was taken for the same run: %v", err)
	}
	if err := runBandit(t.Context(), strings.Fields(again+" --resume --in-flight 2")); !errors.Is(err,
		journal.ErrDiverged) {
		t.Errorf("more in flight were taken for the same run: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", "*.partial.*")); err != nil || len(left) > 0 {
		t.Errorf("a run that is another left %v, %v", left, err)
	}
}

// Made again when it is over, a run begins anew, and what the earlier one left is kept.
func TestRunAgain(t *testing.T) {
	dir := t.TempDir()
	args := strings.Fields("--T 3 --N 4 --n-arms 2 --offline-latency 0 --output " + dir)
	base := filepath.Join(dir, "bandit", "cp", "offline", "challenge_C12_T3_K2_adaptive_seed0")
	first := map[string][]byte{}
	for again := range 3 {
		if err := runBandit(t.Context(), args); err != nil {
			t.Fatal(err)
		}
		for _, ending := range []string{".json", ".js", ".journal"} {
			name := base + ending
			if again > 0 {
				name = base + ".1" + ending
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatalf("after run %d: %v", again, err)
			}
			if again == 0 {
				first[ending] = data
			} else if !bytes.Equal(data, first[ending]) {
				t.Errorf("after run %d: %s is not what the first run wrote", again, name)
			}
		}
	}
	left, err := os.ReadDir(filepath.Dir(base))
	if err != nil || len(left) != 9 {
		t.Errorf("%d files after three runs, want three each: %v", len(left), err)
	}
}

func TestDeadEndpointSavesWhatThereIs(t *testing.T) {
	const url = "http://127.0.0.1:1/v1" // a port that nobody is given, as one just closed may be
	dir := t.TempDir()
	err := runBandit(t.Context(), strings.Fields("--model llama-8b --T 2 --N 4 --n-arms 2 --api-base "+url+" --output "+
		dir))
	var usage *cli.UsageError
	if err == nil || errors.As(err, &usage) || !strings.Contains(err.Error(), url) {
		t.Errorf("error %v, want one that names %s", err, url)
	}
	if r := saved(t, dir, "*.partial.json"); r.Stop != string(evolve.StopError) || r.FinalFitness < 0.364 {
		t.Errorf("stopped by %s at %v", r.Stop, r.FinalFitness)
	}
}

// A run of the paper's protocol has seeds that follow each other and raw scores. Others have seeds that no run with a
// neighboring base has, and a policy that expects rewards in [0, 1] gets them so.
func TestPaperProtocol(t *testing.T) {
	const ucb = "UCB1(c=1.4142135623730951)"
	for flags, want := range map[string]struct {
		seeds  []int64
		policy string
	}{
		"--strict": {[]int64{40, 41}, ucb},
		"":         {[]int64{int64(evolve.ArmSeed(40, 0)), int64(evolve.ArmSeed(40, 1))}, "Rescale(" + ucb + ")"},
	} {
		dir := t.TempDir()
		args := "--T 3 --N 2 --n-arms 2 --breadth fixed --offline-latency 0 --algo ucb --output " + dir + " " + flags
		for _, again := range []string{"", " --resume"} {
			if err := runBandit(t.Context(), strings.Fields(args+again)); err != nil {
				t.Fatal(err)
			}
			r := saved(t, dir, "ucb_C6_T3_K2_seed0.json")
			if !slices.Equal(r.ArmSeeds, want.seeds) || r.ArmResults[1].Seed != want.seeds[1] || r.Policy != want.policy {
				t.Errorf("%s%s: seeds %v of %s, want %v of %s", flags, again, r.ArmSeeds, r.Policy, want.seeds, want.policy)
			}
		}
	}
}
