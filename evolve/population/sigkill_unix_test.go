//go:build unix

package population_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// The environment of a run that TestSIGKILL starts and kills.
const (
	killDir = "POPULATION_KILL_DIR"
	killURL = "POPULATION_KILL_URL"
)

// killedRun is a whole program: it makes or resumes a run of two mixed populations and saves the result.
func killedRun() error {
	dir := os.Getenv(killDir)
	j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
	if err != nil {
		return err
	}
	client, err := openai.New(openai.Config{BaseURL: os.Getenv(killURL), Model: llm.Models()[0]})
	if err != nil {
		return err
	}
	var arms []evolve.Arm
	for seed := range uint32(2) {
		p, err := mixed(llm.Retry(llm.Limit(client, 8), llm.RetryConfig{}), 40+seed, 7, evolve.ByIndex)
		if err != nil {
			return err
		}
		arms = append(arms, p)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 6}, Journal: j})
	if err != nil {
		return err
	}
	file := report.NewBandit(res, report.BanditHeader{ArmSeeds: []uint32{40, 41}})
	return errors.Join(report.Save(filepath.Join(dir, "result.json"), file), j.Close())
}

// A program that searches over HTTP is killed at random instants and resumed each time. No request whose answer was in
// the journal is sent again, and the result is that of a run that nobody disturbed.
func TestSIGKILL(t *testing.T) {
	if os.Getenv(killDir) != "" {
		if err := killedRun(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	var sent atomic.Int64
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(req llmtest.Request) string {
			sent.Add(1)
			reply, err := editor(t.Context(), req.Request)
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
	checkCalls(t, undisturbed, int(needed))

	dir, r := t.TempDir(), rand.New(rand.NewPCG(7, 7))
	for range 3 {
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
	if n, lost := sent.Load(), int64(lost(t, dir)); n > needed+lost {
		t.Errorf("%d requests are sent, %d are needed and %d were under way at kills", n, needed, lost)
	}
	if diff := cmp.Diff(saved(t, undisturbed), saved(t, dir)); diff != "" {
		t.Errorf("the killed run comes to another result (-undisturbed +killed):\n%.3000s", diff)
	}
}

// checkCalls checks that the children by operator and the calls beside them add up to what the server was sent, to the
// last call.
func checkCalls(t *testing.T, dir string, sent int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report.Bandit
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	parts, asides := 0, 0
	var tokens, all report.Tokens
	for _, arm := range r.ArmResults {
		for _, o := range arm.Operators {
			parts += o.Calls
			tokens.Prompt, tokens.Completion = tokens.Prompt+o.Tokens.Prompt, tokens.Completion+o.Tokens.Completion
		}
		for _, u := range arm.Uses {
			asides += u.Calls
			tokens.Prompt, tokens.Completion = tokens.Prompt+u.Tokens.Prompt, tokens.Completion+u.Tokens.Completion
		}
	}
	for _, c := range r.Tokens {
		all.Prompt, all.Completion = all.Prompt+c.Prompt, all.Completion+c.Completion
	}
	if parts+asides != sent || asides == 0 || tokens != all || r.Calls[llm.Real] != sent {
		t.Errorf("%d calls for children and %d beside them, %+v; the run has %d and %+v; the server was sent %d", parts, asides, tokens, r.Calls[llm.Real], all, sent)
	}
}

// lost returns how many attempts in a journal began and have no end.
func lost(t *testing.T, dir string) int {
	open := 0
	for r, err := range journal.Read(filepath.Join(dir, "run.journal")) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0
		case err != nil:
			t.Fatal(err)
		case r.Kind == journal.Begin:
			open++
		case r.Kind == journal.Completion, r.Kind == journal.Abandoned:
			open--
		}
	}
	return open
}

// saved returns a saved result without times, and without what calls cost that were lost.
func saved(t *testing.T, dir string) any {
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var x map[string]any
	if err := json.Unmarshal(times.ReplaceAll(data, []byte(`"$1": 0`)), &x); err != nil {
		t.Fatal(err)
	}
	delete(x, "all_lives")
	return x
}
