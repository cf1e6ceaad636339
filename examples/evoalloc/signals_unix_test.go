//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// signaled begins a run against a server that sends the process a signal while it answers request n, and answers once
// the process has heard it, if it can. It returns the exit status, what the run printed and the server.
func signaled(t *testing.T, args, dir string, n int64, s syscall.Signal, hears bool) (status int, printed string, srv *llmtest.Server) {
	t.Helper()
	var cmd *exec.Cmd
	var mu sync.Mutex
	heard := make(chan struct{})
	srv = server(t, func(now int64) llmtest.Fault {
		if now == n {
			mu.Lock()
			defer mu.Unlock()
			if err := cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
			if hears {
				<-heard
			}
		}
		return ""
	})
	mu.Lock()
	cmd = against(t, args, srv, dir)
	notices, says := io.Pipe()
	cmd.Stderr = says
	go func() {
		defer close(heard)
		for lines := bufio.NewScanner(notices); lines.Scan(); {
			if strings.Contains(lines.Text(), "stopping") {
				break
			}
		}
		go io.Copy(io.Discard, notices)
	}()
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Start()
	mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	var failed *exec.ExitError
	err = cmd.Wait()
	says.Close()
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), srv
}

// textRun writes cases and returns the flags of a run of five calls that scores a prompt on six held-out cases.
func textRun(t *testing.T) string {
	t.Helper()
	dir, cases := t.TempDir(), ""
	for _, set := range []string{"train", "validation", "held_out", "held_out", "held_out", "held_out", "held_out",
		"held_out"} {
		text, err := json.Marshal(map[string]string{"input": set + strings.Repeat("!", len(cases)), "want": "x", "set": set})
		if err != nil {
			t.Fatal(err)
		}
		cases += string(text) + "\n"
	}
	files := map[string]string{"cases": cases, "prompt": "Answer."}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return "text --model qwen3-8b --T 1 --N 5 --parallel-llm 1 --cases " + dir + "/cases --prompt " + dir + "/prompt"
}

// Answers for held-out cases are paid for once, though the process is killed between them. After Ctrl-C the call under
// way ends, the result is saved, and the command is told that goes on.
func TestHeldOutGoesOn(t *testing.T) {
	args := textRun(t)
	undisturbed, whole := server(t, none), t.TempDir()
	if err := against(t, args, undisturbed, whole).Run(); err != nil {
		t.Fatal(err)
	}
	all, want := int64(undisturbed.Stats().Calls), only(t, whole)
	if want.HeldOut == nil || want.HeldOut.Use.Calls != 6 {
		t.Fatalf("held out: %+v", want.HeldOut)
	}
	for _, tt := range []struct {
		signal syscall.Signal
		lost   int64 // answers
	}{{syscall.SIGKILL, 1}, {syscall.SIGINT, 0}, {syscall.SIGHUP, 0}} {
		dir := t.TempDir()
		status, printed, before := signaled(t, args, dir, all-2, tt.signal, tt.lost == 0)
		if r := only(t, dir); r.Stop != string(evolve.StopBudget) || r.HeldOut != nil {
			t.Errorf("%v: the result before the end: %s, held out %+v", tt.signal, r.Stop, r.HeldOut)
		}
		asked := "to score held-out cases asked 5 calls"
		if tt.signal != syscall.SIGKILL && (status != 130 || !strings.Contains(printed, asked) ||
			!strings.Contains(printed, "--resume")) {
			t.Errorf("%v: status %d, printed:\n%s", tt.signal, status, printed)
		}
		after := server(t, none)
		if err := against(t, args+" --resume", after, dir).Run(); err != nil {
			t.Fatal(err)
		}
		if sent := int64(before.Stats().Calls + after.Stats().Calls); sent != all+tt.lost {
			t.Errorf("%v: %d calls are sent, want %d", tt.signal, sent, all+tt.lost)
		}
		if r := only(t, dir); r.HeldOut == nil || r.HeldOut.Use.Calls != 6 || r.HeldOut.Score != want.HeldOut.Score {
			t.Errorf("%v: held out %+v, want %+v", tt.signal, r.HeldOut, want.HeldOut)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*.heldout")); len(left) > 0 {
			t.Errorf("%v: %v is left", tt.signal, left)
		}
	}
}

// only returns the one result below dir.
func only(t *testing.T, dir string) (r report.Greedy) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		found++
		text, err := os.ReadFile(path)
		return errors.Join(err, json.Unmarshal(text, &r))
	})
	if err != nil || found != 1 {
		t.Fatalf("%d results, %v", found, err)
	}
	return r
}

// A run whose output nobody reads any more ends as it would have, and saves its result.
func TestNobodyReads(t *testing.T) {
	dir := t.TempDir()
	cmd := process(t, "greedy --T 20 --N 4 --offline-latency 1ms --output "+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _, err := bufio.NewReader(out).ReadLine(); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	out.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the run ends with %v", err)
	}
	if r := only(t, dir); r.Stop != string(evolve.StopBudget) {
		t.Errorf("it stopped by %s", r.Stop)
	}
}

// A closed terminal ends a run as Ctrl-C does: what it has is saved. Under nohup it goes on.
func TestHangup(t *testing.T) {
	const args = "greedy --model qwen3-8b --T 6 --N 2 --breadth fixed --parallel-llm 1"
	for _, hup := range []bool{true, false} {
		dir, want := t.TempDir(), 130
		if !hup { // what a process ignores, those that it starts ignore
			t.Setenv(ignoreHangup, "1")
			want = 0
		}
		status, printed, _ := signaled(t, args, dir, 5, syscall.SIGHUP, hup)
		if status != want {
			t.Errorf("heard %v: status %d, want %d:\n%s", hup, status, want, printed)
		}
		if r := only(t, dir); (r.Stop == string(evolve.StopCanceled)) != hup {
			t.Errorf("heard %v: the result's run stopped by %s", hup, r.Stop)
		}
	}
}

// A budget with which a prompt could not be improved is refused before anything is asked.
func TestTextOfTooFewCalls(t *testing.T) {
	srv := server(t, none)
	args := strings.Fields(textRun(t) + " --N 4 --output " + t.TempDir() + " --api-base " + srv.URL)
	err := runText(t.Context(), args[1:])
	if usage := (*cli.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), "T·N = 5") {
		t.Errorf("%v", err)
	}
	if n := srv.Stats().Calls; n > 0 {
		t.Errorf("%d calls", n)
	}
}
