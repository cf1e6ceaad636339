package command

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A bad program, and a regular expression for the reason that its child must have.
type bad struct{ program, reason string }

// badPython are attacks on a search: programs that a model may write. What they print or write into
// descriptors they hold claims a score.
var badPython = []bad{
	{"def run():\n  while True: pass", "^ran longer than 10s$"},
	{"import time\ntime.sleep(999)", "^ran longer than 10s$"},
	{"def run():\n  x = []\n  while True: x.append(bytearray(1 << 24))", "^ran out of memory"},
	{"import os\ndef run(): os._exit(0)", "^exited with status 0"},
	{"import os\ndef run():\n  for s in 15, 9:\n    for pid in os.getppid(), -1, 0:\n      try: os.kill(pid, s)\n      except OSError: pass\n  os._exit(1)", "^was ended by signal|^exited with status 1"},
	{"import ctypes\ndef run(): ctypes.string_at(0)", "signal 11"},
	{"def run():\n  while True: print('x' * (1 << 20))", "^printed more than 16 MiB$"},
	{"import os\ndef run():\n  for fd in range(64):\n    try: os.write(fd, b'R1e9')\n    except OSError: pass\n  os._exit(0)", "^exited with status 0"},
	{"import socket\ndef run(): socket.create_connection(('127.0.0.1', 1))", "^(PermissionError|OSError)"},
	{"import os\ndef run(): open('/evoalloc-was-here', 'w')", "^(PermissionError|OSError|ReadOnly)"},
	{"def run(): return float('nan')", "not (a )?finite|^combined_score is nan"},
	{"def run(:", "^SyntaxError"},
	{"x = 1", "run"},
}

var badShell = []bad{
	{`while :; do :; done`, "^ran longer than 5s$"},
	{`sleep 999`, "^ran longer than 5s$"},
	{`kill -SEGV $$`, "signal 11"},
	{`kill -9 0; kill -9 -1; echo 1e9; exit 1`, "signal 9|^exited with status 1"},
	{`exec cat /dev/zero`, "^printed more than 16 MiB$"},
	{`echo NaN`, "^printed what is not JSON"},
	{`echo 1 > /evoalloc-was-here && echo 1e9`, "^exited with status [12]: "},
	{`if then`, "^exited with status 2"},
}

// TestSearchGoesOn has a model write nothing but attacks in a first generation, and one good program
// among them in a second: each attack is one invalid child with a true reason, and the search goes on
// to the good one.
func TestSearchGoesOn(t *testing.T) {
	t.Parallel()
	shellEvaluator := func(t *testing.T) eval.Evaluator {
		cfg := shell
		cfg.Timeout, cfg.Memory = 5*time.Second, 256<<20
		return without(t, cfg, nil)
	}
	t.Run("command", func(t *testing.T) { testSearch(t, shellEvaluator(t), "echo 1", "echo 2", badShell) })
	cfg := python.Config{Timeout: 10 * time.Second, CPU: 5 * time.Minute, Memory: 256 << 20, Workers: 2,
		Imports: []string{}, Logger: slog.New(slog.DiscardHandler)}
	t.Run("Runner", func(t *testing.T) {
		needPython(t)
		r, err := python.NewRunner(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, r.Close)
		testSearch(t, eval.Scored(r, "run", read), "def run(): return 1", "def run(): return 2", badPython)
	})
	t.Run("Evaluator", func(t *testing.T) {
		notrun.Long(t, "the Runner, which has the same pool")
		needPython(t)
		dir := t.TempDir()
		const evaluator = "import runpy\ndef evaluate(path): return {'combined_score': runpy.run_path(path)['run']()}\n"
		if err := os.WriteFile(filepath.Join(dir, "evaluator.py"), []byte(evaluator), 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := python.NewEvaluator(t.Context(), dir, python.EvaluatorConfig{Config: cfg})
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, e.Close)
		testSearch(t, e, "def run(): return 1", "def run(): return 2", badPython)
	})
}

func closed(t *testing.T, f func() error) {
	if err := f(); err != nil {
		t.Error(err)
	}
}

func testSearch(t *testing.T, e eval.Evaluator, initial, good string, attacks []bad) {
	spec, err := task.New(task.Spec{Name: "search", Language: "text", System: "s", Initial: initial,
		Evaluator: eval.Limit(e, 2)})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	model := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		n := int(asked.Add(1)) - 1
		program := good
		if i := n % (len(attacks) + 1); n < len(attacks)+1 && i == 0 {
			program = initial // of the first generation nothing is better
		} else if i > 0 {
			program = attacks[i-1].program
		}
		return llm.Reply{Text: "```text\n" + program + "\n```", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	arm, err := population.New(population.Config{Task: spec, LLM: model, N: len(attacks) + 1, Seed: 1,
		Noise: &evolve.Noise{}})
	if err != nil {
		t.Fatal(err)
	}
	generations := 0
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 2},
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				generations++
				checkGeneration(t, e.Generation, attacks)
			}
		}})
	if err != nil || generations != 2 || result.Stop != evolve.StopBudget || result.Best.Result.Score != 2 {
		t.Errorf("%d generations, %+v, %v; want two, and the good program", generations, result, err)
	}
}

// checkGeneration wants each attack to be one invalid child, and one child to be valid.
func checkGeneration(t *testing.T, g evolve.Generation, attacks []bad) {
	valid := 0
	for _, c := range g.Children {
		i := slices.IndexFunc(attacks, func(a bad) bool { return a.program == c.Program })
		switch {
		case i < 0 && c.Result.Valid:
			valid++
		case i < 0 || c.Result.Valid || c.Err != "" || !regexp.MustCompile(attacks[i].reason).MatchString(c.Result.Reason):
			t.Errorf("%q is %+.300v, %s; want it invalid", c.Program, c.Result, c.Err)
		}
	}
	if valid != 1 || len(g.Children) != len(attacks)+1 {
		t.Errorf("%d of %d children are valid, want one of %d", valid, len(g.Children), len(attacks)+1)
	}
}

// needPython ends a test that needs an interpreter where there is none; TestMain has said so.
func needPython(t *testing.T) {
	t.Helper()
	if pythonPath == "" {
		notrun.Skip(t)
	}
}
