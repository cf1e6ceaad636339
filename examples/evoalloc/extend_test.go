package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// A run that --T ended goes on with a larger one in a copy of its journal: nothing that was answered is asked for again.
// A policy that goes by T keeps its own.
func TestLargerT(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{})
	defer srv.Close()
	dir := t.TempDir()
	own := "--model own --model-name m --params-active 5 --N 4 --api-base " + srv.URL + " --output " + dir + " "
	run := func(command func(context.Context, []string) error, args string, want int) error {
		t.Helper()
		before := srv.Stats().Calls
		err := command(t.Context(), strings.Fields(own+args))
		if n := srv.Stats().Calls - before; n != want {
			t.Errorf("%s: %d calls, want %d", args, n, want)
		}
		return err
	}
	for _, step := range []struct {
		command func(context.Context, []string) error
		args    string
		calls   int
	}{
		{runGreedy, "--T 1 --resume=auto", 4}, {runGreedy, "--T 1 --resume=auto", 0}, {runGreedy, "--T 3 --resume", 8},
		{runGreedy, "--T 3 --resume=auto", 0}, {runGreedy, "--T 1 --resume", 0}, {runGreedy, "--T 4 --resume", 4},
		{runGreedy, "--T 1 --breadth fixed", 4}, {runGreedy, "--T 2 --breadth fixed --resume", 4},
		{runBandit, "--T 2", 8}, {runBandit, "--T 3 --resume", 4}, {runBandit, "--T 3 --resume", 0},
		{runBandit, "--T 5 --resume", 8}, {runBandit, "--T 5 --resume", 0},
	} {
		if err := run(step.command, step.args, step.calls); err != nil {
			t.Errorf("%s: %v", step.args, err)
		}
	}
	if err := run(runGreedy, "--T 5 --seed 7 --resume", 0); err == nil {
		t.Error("another seed: it goes on")
	}
}

// What is let in is said, refused where it must not or cannot be, and decides the run.
func TestLetIn(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"task/evaluator.py": "import os, runpy\nfrom shared import scale\ndef evaluate(path):\n" +
			"    open('beside', 'w').write('1')\n    open('/tmp/cache', 'w').write('1')\n" +
			"    open(os.environ['KEPT'] + '/log', 'a').write('x')\n" +
			"    return {'combined_score': scale * runpy.run_path(path)['x']}\n",
		"task/initial_program.py": "x = 1\n", "lib/shared.py": "scale = 2\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.MkdirTemp("/var/tmp", "kept-") // below /tmp all can be written to
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(kept)
	t.Setenv("KEPT", kept)
	t.Setenv("LLM_API_KEY", "sk-1")
	run := "--T 1 --N 2 --offline-latency 0 --output " + t.TempDir() + " --task " + filepath.Join(dir, "task") + " "
	lib := "--with " + filepath.Join(dir, "lib") + " "
	for _, tt := range []struct{ args, says string }{
		{"", "--with FOLDER"},
		{lib, "--env KEPT passes it"},
		{lib + "--env KEPT", "--writable " + kept + " lets them"},
		{lib + "--env LLM_API_KEY", "the key of the model"},
		{lib + "--env OWN=sk-1", "the key of the model"},
		{lib + "--env SURELY_NOT", "there is no such variable"},
		{lib + "--device surely-not", "there is no device surely-not"},
		{lib + "--writable /surely/not", "no such file"},
	} {
		refused(t, tt.args, runGreedy(t.Context(), strings.Fields(run+tt.args)), tt.says)
	}
	all := run + lib + "--env KEPT --writable " + kept
	if err := runGreedy(t.Context(), strings.Fields(all)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(kept, "log")); err != nil || string(text) == "" {
		t.Errorf("kept %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "task", "beside")); err == nil {
		t.Error("what was written beside the evaluator stays")
	}
	refused(t, "less let in", runGreedy(t.Context(), strings.Fields(run+lib+"--env KEPT --resume")), "write to "+kept)
	refused(t, "JavaScript", runGreedy(t.Context(), strings.Fields("--T 1 --N 1 --env HOME --output "+t.TempDir())),
		"no effect on programs in JavaScript")
}
