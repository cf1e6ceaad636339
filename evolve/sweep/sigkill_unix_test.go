//go:build unix

package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// The environment of a sweep that TestSIGKILL starts and kills.
const (
	killDir = "SWEEP_KILL_DIR"
	killURL = "SWEEP_KILL_URL"
)

// killed is the plan of the sweep that is killed.
func killed(url string) (sweep.Plan, error) {
	p := mixed(4)
	client, err := openai.New(openai.Config{BaseURL: url, Model: llm.Models()[0]})
	p.Models = []sweep.Model{{Spec: llm.Models()[0], LLM: client}}
	return p, err
}

// killedSweep is a whole program: it makes or goes on with a sweep.
func killedSweep() error {
	p, err := killed(os.Getenv(killURL))
	if err != nil {
		return err
	}
	_, err = p.Run(context.Background(), sweep.Config{Dir: os.Getenv(killDir), Calls: 8, Evaluations: 4, AtOnce: 4})
	return err
}

// A program that sweeps over HTTP is killed at random instants and gone on with each time. No request whose answer was in
// a journal is sent again, calls under way at a kill are counted as lost and made again, and the table is that of a sweep
// that nobody disturbed.
func TestSIGKILL(t *testing.T) {
	if os.Getenv(killDir) != "" {
		if err := killedSweep(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	srv, sent := guessing(t)
	p, err := killed(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	needed, err := p.Cost()
	if err != nil {
		t.Fatal(err)
	}
	undisturbed, dir := t.TempDir(), t.TempDir()
	begin := time.Now()
	if err := start(t, undisturbed, srv.URL).Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	if n := int(sent.Swap(0)); n != needed.Calls {
		t.Fatalf("undisturbed, the sweep sends %d requests, want the %d of the plan", n, needed.Calls)
	}

	kills := killOften(t, dir, srv.URL, took/2)
	if err := start(t, dir, srv.URL).Wait(); err != nil {
		t.Fatal(err)
	}
	n, lost := int(sent.Load()), lostCalls(t, dir)
	t.Logf("%d kills, %d requests, %d lost", kills, n, lost)
	if n < needed.Calls || n > needed.Calls+lost {
		t.Errorf("%d requests are sent in %d kills, %d are needed and %d were under way at kills", n, kills, needed.Calls, lost)
	}
	if diff := cmp.Diff(lasting(t, undisturbed), lasting(t, dir)); diff != "" {
		t.Errorf("another table (-undisturbed +killed):\n%.3000s", diff)
	}
	if again := madeAgain(t, dir); again != lost {
		t.Errorf("the table tells of %d calls that were made again, %d were lost", again, lost)
	}
}

// guessing is a server that answers as guess does, and counts what it is sent.
func guessing(t *testing.T) (srv *llmtest.Server, sent *atomic.Int64) {
	sent = new(atomic.Int64)
	model := guess().LLM
	srv = llmtest.NewServer(llmtest.Config{
		Reply: func(req llmtest.Request) string {
			sent.Add(1)
			reply, err := model.Generate(t.Context(), req.Request)
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

// start starts a process that makes or goes on with the sweep in dir.
func start(t *testing.T, dir, url string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSIGKILL$")
	cmd.Env, cmd.Stderr = append(os.Environ(), killDir+"="+dir, killURL+"="+url), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// killOften kills several such processes, each within the given time, and returns how many it met alive.
func killOften(t *testing.T, dir, url string, within time.Duration) (kills int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	for range 6 {
		cmd := start(t, dir, url)
		time.Sleep(time.Duration(r.Int64N(int64(within)) + 1))
		if cmd.Process.Signal(syscall.SIGKILL) == nil {
			kills++
		}
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the sweep failed: %v", err)
		}
	}
	return kills
}

// madeAgain returns how many calls the table in dir tells of that were made again.
func madeAgain(t *testing.T, dir string) (sum int) {
	t.Helper()
	_, rows := table(t, dir)
	for _, row := range rows {
		if row["generation"] != "0" { // each row of a run tells it
			continue
		}
		n, err := strconv.Atoi(row["made_again"])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// lasting returns the table without times and what a kill adds.
func lasting(t *testing.T, dir string) []map[string]string {
	_, rows := table(t, dir)
	for _, row := range rows {
		delete(row, "seconds")
		delete(row, "made_again")
	}
	return rows
}

// lostCalls returns how many attempts in the journals under dir began and have no end.
func lostCalls(t *testing.T, dir string) (lost int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".journal") {
			return err
		}
		for r, err := range journal.Read(path) {
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return err
			case r.Kind == journal.Begin:
				lost++
			case r.Kind == journal.Completion, r.Kind == journal.Failure, r.Kind == journal.Abandoned:
				lost--
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lost
}
