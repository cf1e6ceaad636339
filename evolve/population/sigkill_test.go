package population_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// killedRun makes or resumes a run of two mixed populations and saves the result.
func killedRun(dir string, args []string) error {
	j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
	if err != nil {
		return err
	}
	client, err := openai.New(openai.Config{Seed: true, BaseURL: args[0], Model: llm.Models()[0]})
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
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Rounds: 6}, Journal: j})
	if err != nil {
		return err
	}
	file := report.NewBandit(res, report.BanditHeader{ArmSeeds: []uint32{40, 41}})
	return errors.Join(result.Save(filepath.Join(dir, "result.json"), file), j.Close())
}

// A program that searches over HTTP is killed at random instants and resumed each time. No request whose answer was in
// the journal is sent again, and the result is that of a run that nobody disturbed.
func TestSIGKILL(t *testing.T) {
	killtest.Main(killedRun)
	srv, sent := killtest.Serve(t, editor)
	whole, took := killtest.Undisturbed(t, srv.URL)
	needed := sent.Swap(0)
	checkCalls(t, whole, int(needed))
	killed, _ := killtest.Killed(t, 3, took, srv.URL)
	if n, lost := sent.Load(), int64(killtest.Lost(t, filepath.Join(killed, "run.journal"))); n > needed+lost {
		t.Errorf("%d requests are sent, %d are needed and %d were under way at kills", n, needed, lost)
	}
	if diff := cmp.Diff(killtest.Saved(t, whole), killtest.Saved(t, killed)); diff != "" {
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
	var tokens, all history.Tokens
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
		t.Errorf("%d calls for children and %d beside them, %+v; the run has %d and %+v; the server was sent %d", parts,
			asides, tokens, r.Calls[llm.Real], all, sent)
	}
}
