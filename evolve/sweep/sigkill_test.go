package sweep_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// killed is the plan of the sweep that is killed.
func killed(url string) (sweep.Plan, error) {
	p := mixed(4)
	client, err := openai.New(openai.Config{Seed: true, BaseURL: url, Model: llm.Models()[0]})
	p.Models = []sweep.Model{{Spec: llm.Models()[0], LLM: client}}
	return p, err
}

// A program that sweeps over HTTP is killed at random instants and gone on with each time. No request whose answer was in
// a journal is sent again, calls under way at a kill are counted as lost and made again, and the table is that of a sweep
// that nobody disturbed.
func TestSIGKILL(t *testing.T) {
	killtest.Main(func(dir string, args []string) error {
		p, err := killed(args[0])
		if err != nil {
			return err
		}
		_, err = p.Run(context.Background(), sweep.Config{Dir: dir, Calls: 8, Evaluations: 4, AtOnce: 4})
		return err
	})
	srv, sent := killtest.Serve(t, guess().LLM.Generate)
	p, err := killed(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	needed, err := p.Cost()
	if err != nil {
		t.Fatal(err)
	}
	whole, took := killtest.Undisturbed(t, srv.URL)
	if n := int(sent.Swap(0)); n != needed.Calls {
		t.Fatalf("undisturbed, the sweep sends %d requests, want the %d of the plan", n, needed.Calls)
	}
	dir, met := killtest.Killed(t, 6, took/2, srv.URL)
	n, lost := int(sent.Load()), lostCalls(t, dir)
	t.Logf("%d kills, %d requests, %d lost", met, n, lost)
	if n < needed.Calls || n > needed.Calls+lost {
		t.Errorf("%d requests are sent in %d kills, %d are needed and %d were under way at kills", n, met, needed.Calls, lost)
	}
	if diff := cmp.Diff(lasting(t, whole), lasting(t, dir)); diff != "" {
		t.Errorf("another table (-undisturbed +killed):\n%.3000s", diff)
	}
	if again := madeAgain(t, dir); again != lost {
		t.Errorf("the table tells of %d calls that were made again, %d were lost", again, lost)
	}
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
		if err == nil && strings.HasSuffix(path, ".journal") {
			lost += killtest.Lost(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lost
}
