package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// A worker's candidates cannot read the seed by which it shows the queue who it is.
func TestCandidatesCannotReadAWorkersSeed(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	dir := t.TempDir()
	seed := filepath.Join(dir, "worker.nk")
	reads := "def run(): return len(open('" + seed + "').read())\n"
	for name, text := range map[string]string{
		"initial_program.py": reads,
		"evaluator.py":       "import runpy\ndef evaluate(path): return {'combined_score': runpy.run_path(path)['run']()}\n",
		"config.yaml":        "",
		"worker.nk":          "SUAM",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string]float64{"": 4, "--nats-nkey": 0, "--nats-creds": 0, "--nats-key": 0} {
		args := ""
		if flag != "" {
			args = " " + flag + " " + seed
		}
		o, err := cli.ParseWorker(strings.Fields("--nats nats://127.0.0.1:1 --task " + dir + args))
		if err != nil {
			t.Fatal(err)
		}
		tk, end, err := open.Task(t.Context(), &o.Options)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := tk.Evaluate(t.Context(), reads); err != nil || r.Score != want || strings.Contains(r.Reason, "SUAM") {
			t.Errorf("with %q: %+v, %v, want %v bytes read", args, r, err, want)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}
