package bank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/tasks"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/task"
)

// record runs the program with the arguments, and returns what it printed and the file.
func record(t *testing.T, path, args string) (printed, text string) {
	t.Helper()
	var out bytes.Buffer
	if err := Run(t.Context(), append(strings.Fields(args), "--out", path), &out); err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), string(file)
}

// Every task has a bank made of it, whose searches begin alike and find something.
func TestRun(t *testing.T) {
	for _, k := range tasks.All() {
		path := filepath.Join(t.TempDir(), "banks", k.Key+".json")
		printed, _ := record(t, path, "--task "+k.Key+" --N 2 --T 40 --searches 3 --seed 7")
		b, err := sim.ReadBankFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.Task != k.Key || b.N != 2 || len(b.Searches) != 3 || !strings.Contains(b.Made, "stand-in") ||
			!strings.Contains(printed, "3 of 3 searches") {
			t.Errorf("%s: a bank of %d searches of %s with N=%d by %q, printed %s", k.Key, len(b.Searches), b.Task, b.N, b.Made,
				printed)
		}
		rises := 0
		for i, s := range b.Searches {
			rises += len(s.Rises) - 1
			if s.Seed != uint64(7+i) || s.Generations != 40 || s.Rises[0].Score != b.Searches[0].Rises[0].Score {
				t.Errorf("%s: search %d: %+v", k.Key, i, s)
			}
		}
		if rises < 3 {
			t.Errorf("%s: %d rises in three searches", k.Key, rises)
		}
		if finals := b.Searches; finals[0].Final() == finals[1].Final() && finals[1].Final() == finals[2].Final() {
			t.Errorf("%s: searches of three seeds end at %v alike", k.Key, finals[0].Final())
		}
	}
}

// The file depends on the flags alone: not on how many searches are made at once, and not on whether they were made
// in one go.
func TestRunAgain(t *testing.T) {
	dir := t.TempDir()
	whole, pieces := filepath.Join(dir, "whole.json"), filepath.Join(dir, "pieces.json")
	const flags = "--task nk --N 3 --T 30 --searches "
	_, want := record(t, whole, flags+"6 --parallel 4")
	record(t, pieces, flags+"2 --seed 4 --parallel 1")
	if printed, text := record(t, pieces, flags+"6 --parallel 1"); text != want ||
		!strings.Contains(printed, "has 2 of the 6 searches") {
		t.Errorf("in pieces %s\nwhole %s\nprinted %s", text, want, printed)
	}
	if printed, text := record(t, pieces, flags+"6"); text != want || strings.Contains(printed, "seed") {
		t.Errorf("with nothing missing, %s printed, and the file has %s", printed, text)
	}
}

// Scored by workers, the searches are those that they are without.
func TestRunThroughAQueue(t *testing.T) {
	dir := t.TempDir()
	const flags = "--task cp --N 2 --T 10 --searches 3 --seed 7"
	_, want := record(t, filepath.Join(dir, "alone.json"), flags)
	var text string
	says := runtest.Output(t, func() { _, text = record(t, filepath.Join(dir, "queued.json"), flags+" --nats embedded") })
	if text != want {
		t.Errorf("scored by workers %s\nwithout %s", text, want)
	}
	_, line, _ := strings.Cut(says, " slots at the end; ")
	made := 0
	if _, err := fmt.Sscanf(line, "%d evaluations", &made); err != nil || made < 40 {
		t.Errorf("workers made %d evaluations, %v: %s", made, err, says)
	}
}

// stopping is a writer that ends a context once something is written, as Ctrl-C would.
type stopping struct {
	bytes.Buffer
	stop context.CancelFunc
}

func (s *stopping) Write(p []byte) (int, error) {
	s.stop()
	return s.Buffer.Write(p)
}

// What is finished when the program is stopped stands in the file.
func TestStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bank.json")
	args := strings.Fields("--task tsp --T 40 --searches 5 --parallel 1 --out " + path)
	ctx, cancel := context.WithCancel(t.Context())
	out := stopping{stop: cancel}
	if err := Run(ctx, args, &out); !errors.Is(err, cli.ErrCanceled) ||
		!strings.Contains(out.String(), "has 1 of the 5 searches") {
		t.Errorf("stopped after a search: %v, printed %s", err, &out)
	}
	if b, err := sim.ReadBankFile(path); err != nil || len(b.Searches) != 1 || b.Searches[0].Generations != 40 {
		t.Errorf("the file has %+v, %v", b, err)
	}
}

// A model that is named is asked, for tasks of programs and of data alike.
func TestModel(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string {
		return task.Fence(strings.Repeat("01", 48), "")
	}})
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "bank.json")
	record(t, path, "--task nk --T 3 --searches 1 --parallel-llm 1 --model some-model --api-base "+srv.URL)
	b, err := sim.ReadBankFile(path)
	if err != nil || !strings.HasSuffix(b.Made, "some-model") || srv.Stats().Calls != 3 {
		t.Errorf("%d calls, %+v, %v", srv.Stats().Calls, b, err)
	}
}

// A wrong flag is one line, and no file is begun or changed.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("LLM_API_BASE", "nowhere")
	path := filepath.Join(dir, "bank.json")
	_, before := record(t, path, "--task nk --N 2 --T 5 --searches 2")
	for _, tt := range []struct{ args, want string }{
		{"--task chess", `unknown task "chess"`},
		{"--N 0", "--N is 0"},
		{"--N 100000000", "--N is 100000000"},
		{"--T -1", "--T is -1"},
		{"--searches 0", "--searches is 0"},
		{"--parallel 0", "--parallel is 0"},
		{"--parallel-llm 0", "--parallel-llm is 0"},
		{"--seed 4294967296", "--seed is 4294967296"},
		{"--seed 4294967295 --searches 2", "need at most 4294967295 for all of 2"},
		{"--api-base http://a/v1", "no effect without --model"},
		{"--model m", "nowhere"},
		{"--task nk --nats embedded", "serves cp, mmd, ht"},
		{"--nats nats://127.0.0.1:1", "127.0.0.1:1"},
		{"more", `"more"`},
		{"--out " + dir, dir},
		{"--task cp --N 2 --T 5 --out bank.json", "searches of nk with N=2, not of cp"},
		{"--task nk --N 3 --T 5 --out bank.json", "with N=2, not of nk with N=3"},
		{"--task nk --N 2 --T 6 --out bank.json", "5 generations, not of 6"},
		{"--task nk --N 2 --T 5 --model m --api-base http://localhost:1/v1 --out bank.json", "made by"},
	} {
		var usage *cli.UsageError
		err := Run(t.Context(), strings.Fields(tt.args), io.Discard)
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a usage error that says %q", tt.args, err, tt.want)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != before {
		t.Errorf("the bank is %s now, %v", after, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files, want the bank alone: %v", len(entries), entries)
	}
}
