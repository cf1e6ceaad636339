//go:build unix

package layers_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// The environment of a run that TestSIGKILL starts and kills.
const (
	killDir = "LAYERS_KILL_DIR"
	killURL = "LAYERS_KILL_URL"
)

// killedRun is a whole program: it makes or resumes a layered run and saves the result.
func killedRun(t *testing.T) {
	client, err := openai.New(openai.Config{BaseURL: os.Getenv(killURL), Model: llm.Models()[0]})
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv(killDir)
	data, _ := layeredRun(t, filepath.Join(dir, "run.journal"), llm.Retry(llm.Limit(client, 4), llm.RetryConfig{}))
	if err := os.WriteFile(filepath.Join(dir, "result.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A program that searches in layers over HTTP is killed at random instants and resumed each time. The result is that of a
// run that nobody disturbed, and every answer is paid for once.
func TestSIGKILL(t *testing.T) {
	if os.Getenv(killDir) != "" {
		killedRun(t)
		return
	}
	var sent atomic.Int64
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(req llmtest.Request) string {
			sent.Add(1)
			reply, err := writer(t.Context(), req.Request)
			if err != nil {
				return "I would rather not."
			}
			return reply.Text
		},
		Latency: llmtest.LogNormal{Median: 3 * time.Millisecond, Sigma: 1, Cap: 50 * time.Millisecond},
	})
	defer srv.Close()
	start := func(dir string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSIGKILL$")
		cmd.Env, cmd.Stderr = append(os.Environ(), killDir+"="+dir, killURL+"="+srv.URL), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	undisturbed := t.TempDir()
	begin := time.Now()
	if err := start(undisturbed).Wait(); err != nil {
		t.Fatal(err)
	}
	took, needed := time.Since(begin), sent.Swap(0)

	dir, r := t.TempDir(), rand.New(rand.NewPCG(7, 7))
	const kills, inFlight = 4, 4
	for range kills {
		cmd := start(dir)
		time.Sleep(time.Duration(r.Int64N(int64(took)) + 1))
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the run failed: %v", err)
		}
	}
	if err := start(dir).Wait(); err != nil {
		t.Fatal(err)
	}
	if n := sent.Load(); n > needed+kills*inFlight {
		t.Errorf("%d requests are sent, %d are needed and at most %d were under way at kills", n, needed, kills*inFlight)
	}
	want, err := os.ReadFile(filepath.Join(undisturbed, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutLives(t, want), withoutLives(t, got)); diff != "" {
		t.Errorf("the killed run comes to another result (-undisturbed +killed):\n%.3000s", diff)
	}
}
