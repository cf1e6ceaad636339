package sweep

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

func TestBadInput(t *testing.T) {
	t.Setenv("LLM_API_BASE", "")
	for _, tt := range []struct {
		args string
		want []string // what the one line says
	}{
		{"--task nope", []string{`"nope"`, "cp, mmd, ht"}},
		{"--task cp,nope", []string{`"nope"`, "cp, mmd, ht"}},
		{"--task cp,cp", []string{"two runs of the plan are cp/offline"}},
		{"--task cp,text --nats embedded", []string{"--nats", "key stays"}},
		{"--task text --nats embedded", []string{"--nats", "key stays"}},
		{"--nats nats://127.0.0.1:1", []string{"127.0.0.1:1"}},
		{"--model nope", []string{`"nope"`, "offline, qwen3-8b"}},
		{"--model qwen3-8b", []string{"LLM_API_BASE"}},
		{"--methods nope", []string{`"nope"`, "greedy", "ucb", "openevolve"}},
		{"--methods=", []string{"--methods is empty"}},
		{"--methods greedy,greedy", []string{"two runs of the plan are cp/offline/greedy"}},
		{"--budgets=", []string{"--budgets is empty"}},
		{"--budgets 16,x", []string{`"16,x"`, `"x"`}},
		{"--budgets 16,16", []string{"16 twice"}},
		{"--budgets 8", []string{"ei", "16 children divide none of the budgets [8]"}},
		{"--splits 3", []string{"greedy", "3 children divide none"}},
		{"--splits 0", []string{"--splits", `"0"`}},
		{"--seeds 0", []string{"--seeds is 0"}},
		{"--seed 4294967295 --seeds 2", []string{"4294967295"}},
		{"--seeds 18446744073709551615", []string{"18446744073709551615"}},
		{"--n-arms 1", []string{"--n-arms is 1"}},
		{"--at-once -1", []string{"--at-once is -1"}},
		{"--stop-when greedy:4", []string{`"greedy:4"`, "greedy:4,greedy:64,128"}},
		{"--stop-when greedy:4,greedy,64", []string{"greedy:4,greedy:64,128"}},
		{"--stop-when greedy:4,greedy:3,64", []string{"no cell of greedy:3"}},
		{"--price nobody=1,2,3", []string{"nobody", "offline"}},
		{"--nats-creds x", []string{"--nats-creds has no effect without --nats"}},
		{"--operators tune", []string{"--operators and --prompt have no effect on a sweep"}},
		{"--model qwen3-8b --api-base http://localhost:1/v1 --offline-latency 5ms",
			[]string{"--offline-latency has no effect"}},
		{"--task text --model qwen3-8b --api-base http://localhost:1/v1 --budgets 16", []string{"too small", "T·N = 57"}},
		{"--price 1,2", []string{`"1,2"`, "0.2,0.05,0.8"}},
		{"--price 1,2,-3", []string{`"1,2,-3"`}},
		{"--parallel-llm 0", []string{"--parallel-llm is 0"}},
		{"--T 8", []string{"-T"}},
		{"extra", []string{`"extra"`}},
	} {
		err := Run(t.Context(), append([]string{"--output", t.TempDir()}, strings.Fields(tt.args)...))
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

// csvOf returns the rows of runs.csv, the first of which names its columns.
func csvOf(t *testing.T, dir string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rows returns how many rows runs.csv has of each method.
func rows(t *testing.T, dir string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, row := range csvOf(t, dir)[1:] {
		n[row[2]]++
	}
	return n
}

// Every kind of method is in the table of a small sweep over two tasks.
func TestMethods(t *testing.T) {
	dir := t.TempDir()
	args := "--task cp,mmd --methods greedy,ucb,openevolve --budgets 2,4 --splits 1,2 --N 2 --n-arms 2 --seeds 1 --offline-latency 0 --output " + dir
	if err := Run(t.Context(), strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	got := rows(t, dir)
	for method, want := range map[string]int{
		"greedy":     2 * (5 + 3), // tasks, and generations of T = 4 and T = 2, from 0
		"ucb":        2 * (2 + 3),
		"openevolve": 2 * (2 + 3),
	} {
		if got[method] != want {
			t.Errorf("%d rows of %s, want %d", got[method], method, want)
		}
	}
}

// Against an endpoint, stopped by Ctrl-C: the same command goes on, no call is made twice, and it ends when the
// comparison is decided or every run is made.
func TestStoppedAndGoneOnWith(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	srv := llmtest.NewServer(llmtest.Config{Fault: func(req llmtest.Request) llmtest.Fault {
		if req.Ordinal == 40 {
			cancel()
		}
		return ""
	}})
	defer srv.Close()
	dir := t.TempDir()
	args := strings.Fields("--model qwen3-8b --methods greedy --budgets 4,16 --seeds 3 --stop-when greedy:1,greedy:4,16 --output " + dir + " --api-base " + srv.URL)
	if err := Run(ctx, args); !errors.Is(err, cli.ErrCanceled) {
		t.Fatalf("error %v", err)
	}
	if err := Run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	const needed = 5 * 16 * 3
	if srv.Stats().Calls != needed {
		t.Errorf("%d calls, want %d", srv.Stats().Calls, needed)
	}
	if err := Run(t.Context(), args); err != nil || srv.Stats().Calls != needed {
		t.Errorf("a sweep that is over: %v, %d calls", err, srv.Stats().Calls)
	}
	var usage *cli.UsageError
	if err := Run(t.Context(), append(args, "--eval-timeout", "9s")); !errors.As(err, &usage) ||
		!strings.Contains(err.Error(), "limit of an evaluation") {
		t.Errorf("with another limit: %v", err)
	}
}

// A sweep that is stopped while it looks for what is finished was stopped, and its flags are not at fault.
func TestStoppedBeforeItBegins(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := Run(ctx, []string{"--methods", "greedy", "--budgets", "2", "--seeds", "1", "--output", t.TempDir()})
	var usage *cli.UsageError
	if !errors.Is(err, cli.ErrCanceled) || errors.As(err, &usage) {
		t.Errorf("%v, want that it was stopped", err)
	}
}

// Several models have their own names and URLs, the offline one beside them. What is charged and asked is the runs': a
// sweep with other settings is refused, and a smaller one says what it leaves out of its table.
func TestSeveralModels(t *testing.T) {
	a, b := llmtest.NewServer(llmtest.Config{}), llmtest.NewServer(llmtest.Config{})
	defer a.Close()
	defer b.Close()
	dir := t.TempDir()
	args := "--methods greedy --budgets 4 --splits 2 --seeds 1 --offline-latency 0 --output " + dir
	models := " --model one,offline,two --model-name m1,m2 --params-active 5,6 --api-base one=" + a.URL + ",two=" + b.URL
	if err := Run(t.Context(), strings.Fields(args+models)); err != nil {
		t.Fatal(err)
	}
	asked := a.Stats().Calls + b.Stats().Calls
	if a.Stats().Calls < 4 || b.Stats().Calls < 4 {
		t.Errorf("the models were asked %d and %d times", a.Stats().Calls, b.Stats().Calls)
	}
	for _, other := range []string{" --price one=1,1,1", " --reasoning-effort low"} {
		err := Run(t.Context(), strings.Fields(args+models+other))
		if usage := (*cli.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), "model settings") {
			t.Errorf("%s: %v", other, err)
		}
	}
	printed := runtest.Output(t, func() {
		if err := Run(t.Context(), strings.Fields(args+models+" --seed 41")); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.Contains(printed, "3 finished runs are of other plans") {
		t.Errorf("it does not say what runs.csv left out:\n%s", printed)
	}
	if n := a.Stats().Calls + b.Stats().Calls; n != 2*asked {
		t.Errorf("%d calls, want %d", n, 2*asked)
	}
}
