package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/task"
)

// A tunable is a task with an evaluator for tuners, or an error in its place.
type tunable struct {
	task.Task
	err error
}

func (t tunable) TuneEvaluator(context.Context) (eval.Evaluator, error) {
	return eval.Limit(t.Task, 1), t.err
}

// What scores tries is under the limit on evaluations, and named by what it scores for. Workers score tries as evaluations.
func TestTriesAreUnderTheLimit(t *testing.T) {
	number := runtest.Number(task.Spec{})
	broken := errors.New("no interpreter")
	queue := &cli.Options{}
	queue.NATS.URL = cli.Embedded
	for _, tt := range []struct {
		reason  string
		flags   agentFlags
		options *cli.Options
		task    task.Task
		tuner   string
		err     error
	}{
		{"a task for tuners", agentFlags{kind: agentLoop}, &cli.Options{}, task.WithBounds(tunable{number, nil}, nil),
			"tries of number", nil},
		{"it has none", agentFlags{kind: agentLoop}, &cli.Options{}, tunable{number, errors.ErrUnsupported}, "<nil>", nil},
		{"it does not start", agentFlags{kind: agentLoop}, &cli.Options{}, tunable{number, broken}, "<nil>", broken},
		{"no such task", agentFlags{kind: agentLoop}, &cli.Options{}, number, "<nil>", nil},
		{"workers", agentFlags{kind: agentLoop}, queue, tunable{number, broken}, "<nil>", nil},
		{"--agent-try", agentFlags{kind: agentLoop, try: "true"}, &cli.Options{}, tunable{number, broken}, "<nil>", nil},
		{"an agent that is a program", agentFlags{kind: "true"}, &cli.Options{}, tunable{number, broken}, "<nil>", nil},
		{"no agent", agentFlags{}, &cli.Options{}, tunable{number, broken}, "<nil>", nil},
	} {
		limited := 0
		err := tt.flags.prepare(t.Context(), tt.options, tt.task,
			func(e eval.Evaluator) eval.Evaluator { limited++; return e })
		if !errors.Is(err, tt.err) || fmt.Sprint(tt.flags.tuner) != tt.tuner || limited > 0 != (tt.tuner != "<nil>") {
			t.Errorf("%s: tries go to %v, %d limited, %v", tt.reason, tt.flags.tuner, limited, err)
		}
	}
}

// Tries of a folder are scored by its evaluate_tune on this machine, and by workers as what is submitted is. The command typed
// again pays for nothing.
func TestTriesOfAFolder(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	dir := filepath.Join(t.TempDir(), "mine")
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, name), []byte(text),
			0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("initial_program.py", "x = 1\n")
	write("evaluator.py", "def evaluate(path):\n    return {'combined_score': 1.0 * len(open(path).read())}\n"+
		"def evaluate_tune(path):\n    return {'combined_score': -3.0}\n")
	for queue, want := range map[string]string{"": "score -3.000000 in the mode tune",
		" --nats embedded": "score 7.000000 in the mode tune"} {
		var mu sync.Mutex
		var told []string
		srv := llmtest.NewServer(llmtest.Config{Calls: func(r llmtest.Request) []llm.ToolCall {
			mu.Lock()
			defer mu.Unlock()
			if len(r.Messages) == 2 {
				return []llm.ToolCall{{Name: "edit", Arguments: `{"path":"program.py","new":"x = 22\n"}`}, {Name: "try"}}
			}
			told = append(told, r.Messages[len(r.Messages)-1].Content)
			return []llm.ToolCall{{Name: "submit"}}
		}})
		defer srv.Close()
		args := strings.Fields("--portfolio --like softmax,greedy --agent loop --agent-only --model qwen3-8b --T 4 --N 1 --breadth fixed --api-base " + srv.URL +
			" --task " + dir + " --output " + t.TempDir() + queue)
		for range 2 {
			printed := runtest.Output(t, func() {
				if err := runPopulations(t.Context(), args); err != nil {
					t.Fatal(err)
				}
			})
			if !strings.Contains(printed, "best      7.000000, from 6.000000") {
				t.Errorf("%q printed:\n%s", queue, printed)
			}
			args = append(args, "--resume")
		}
		if len(told) == 0 || len(told) > 4 {
			t.Errorf("%q: %d sessions", queue, len(told))
		}
		for _, text := range told {
			if !strings.HasPrefix(text, want) {
				t.Errorf("%q: told %q, want %q", queue, text, want)
			}
		}
	}
}
