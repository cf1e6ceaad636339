package killtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// The environment of a process that makes a run.
const (
	envDir  = "EVOALLOC_KILLTEST_DIR"
	envArgs = "EVOALLOC_KILLTEST_ARGS" // separated by spaces
)

// Main begins a test that is a program of its own in the processes that [Start] starts: there Main calls run and ends
// the process. run makes the run whose files are in dir, or goes on with it. Elsewhere Main does nothing.
func Main(run func(dir string, args []string) error) {
	dir := os.Getenv(envDir)
	if dir == "" {
		return
	}
	if err := run(dir, strings.Fields(os.Getenv(envArgs))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Start starts the test t, which begins with [Main], as a process of its own.
func Start(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$")
	cmd.Env = append(os.Environ(), envDir+"="+dir, envArgs+"="+strings.Join(args, " "))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Undisturbed makes a run in a process that nobody kills, and returns its folder and how long it took.
func Undisturbed(t testing.TB, args ...string) (dir string, took time.Duration) {
	t.Helper()
	dir = t.TempDir()
	begin := time.Now()
	if err := Start(t, dir, args...).Wait(); err != nil {
		t.Fatal(err)
	}
	return dir, time.Since(begin)
}

// Killed makes a run in processes of which so many are killed, each at a random instant within a time, and lets the
// last end. It returns the run's folder and how many processes were killed before they ended.
func Killed(t testing.TB, kills int, within time.Duration, args ...string) (dir string, met int) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	for range kills {
		cmd := Start(t, dir, args...)
		time.Sleep(time.Duration(r.Int64N(int64(within)) + 1))
		_ = cmd.Process.Kill() // it may have ended
		if err := cmd.Wait(); err != nil {
			if cmd.ProcessState.ExitCode() > 0 {
				t.Fatalf("the run failed: %v", err)
			}
			met++
		}
	}
	if err := Start(t, dir, args...).Wait(); err != nil {
		t.Fatal(err)
	}
	return dir, met
}

// Serve starts a server that answers as a model does, each time after some milliseconds, and counts what it is sent.
func Serve(t testing.TB, model llm.Func) (srv *llmtest.Server, sent *atomic.Int64) {
	t.Helper()
	sent = new(atomic.Int64)
	srv = llmtest.NewServer(llmtest.Config{
		Reply: func(req llmtest.Request) string {
			sent.Add(1)
			reply, err := model(t.Context(), req.Request)
			if err != nil {
				return "I would rather not."
			}
			return reply.Text
		},
		Latency: llmtest.LogNormal{Median: 3 * time.Millisecond, Sigma: 1, Cap: 50 * time.Millisecond},
	})
	t.Cleanup(srv.Close)
	return srv, sent
}
