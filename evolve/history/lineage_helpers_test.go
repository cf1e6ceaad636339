package history_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// noGit says that git is missing.
var noGit bool

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // torn ends are among what is tested
	_, err := exec.LookPath("git")
	if noGit = err != nil; noGit {
		notrun.Say("evolve/history", "all that imports into a git repository", err, "install git")
	}
	os.Exit(m.Run())
}

// sum is a task whose programs are lists of numbers, scored by minus the distance of their sum to 1000.
func sum(name, initial string) task.Task {
	return runtest.Sum(task.Spec{Name: name, Initial: initial}, 1000)
}

// adder is a model that adds a number to the program that it is shown. Some of its replies are not numbers, and some
// hold no program.
var adder = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "")
	if err != nil {
		return llm.Reply{}, err
	}
	reply := llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}
	switch {
	case req.Seed%9 == 1:
	case req.Seed%9 == 2:
		reply.Text = "```\n" + strings.TrimSpace(program) + " many\n```"
	default:
		reply.Text = fmt.Sprintf("```\n%s %d\n```", strings.TrimSpace(program), req.Seed%10)
	}
	return reply, nil
})

// greedy are three greedy searches.
func greedy(t testing.TB, model llm.LLM) []evolve.Arm {
	t.Helper()
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum("sum", "1 2 3"), LLM: model, N: 4, Seed: 40}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return arms
}

// crossing is a population, half of whose children have two parents or three.
func crossing(t testing.TB, model llm.LLM) []evolve.Arm {
	t.Helper()
	p, err := population.New(population.Config{
		Task: sum("sum", "1 2 3"), LLM: model, N: 6, Seed: 40,
		Archive: population.Top(10), Select: population.Uniform(),
		Operators: []population.Operator{population.Rewrite{}, population.Cross{},
			population.Cross{Label: "cross of three", Partners: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return []evolve.Arm{p}
}

// made makes a run with a journal at path, or goes on with it, up to the given rounds.
func made(ctx context.Context, t testing.TB, path string, rounds int, arms []evolve.Arm,
	observer func(evolve.Event)) *evolve.Result {
	t.Helper()
	j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"task": "sum"}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Rounds: rounds}, Journal: j, Observer: observer})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	return result
}

// one reads a journal that has one run.
func one(t testing.TB, path string) *history.Lineage {
	t.Helper()
	l, err := history.ReadLineage(path)
	if err != nil || l.Runs != 1 {
		t.Fatal(l, err)
	}
	return l
}

// write writes records as a journal, after a header and what a run was given.
func write(t testing.TB, arms int, records ...record.Record) string {
	t.Helper()
	begin := []record.Record{
		{Kind: record.Header, Version: record.Version, Fingerprint: journal.Fingerprint{"task": "sum"}},
		{Kind: record.Incarnation},
		{Kind: record.Run, Fingerprint: journal.Fingerprint{"arms": fmt.Sprint(arms)}},
	}
	return writeFile(t, append(begin, records...)...)
}

func writeFile(t testing.TB, records ...record.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.journal")
	l, err := wal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, err := l.Append(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// What follows are records of a journal.

func program(text string) record.Record {
	return record.Record{Kind: record.Program, Key: record.KeyOf(text).String(), Text: text}
}

func evaluation(text string, r eval.Result) record.Record {
	return record.Record{Kind: record.Evaluation, Key: record.KeyOf("sum", text).String(),
		Program: record.KeyOf(text).String(), Result: &r}
}

func start(arm int, text string, score float64) record.Record {
	return record.Record{Kind: record.Start, Arm: &arm, Program: record.KeyOf(text).String(),
		Proposal: books.Proposal{Valid: true, Score: score}}
}

func draw(pull, arm int) record.Record {
	return record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm}
}

func reported(pull int) record.Record { return record.Record{Kind: record.Report, Pull: &pull} }

func child(pull, index, id int, text string, score float64, parents ...int) record.Record {
	r := record.Record{Kind: record.Child, Pull: &pull, Child: &index,
		Proposal: books.Proposal{ID: id, Parents: parents, Valid: true, Score: score}}
	if text != "" {
		r.Program = record.KeyOf(text).String()
	}
	return r
}

// names are the names of candidates at positions.
func names(r *history.Lineage, positions []int) string {
	out := make([]string, len(positions))
	for i, p := range positions {
		out[i] = r.Candidates[p].Name()
	}
	return strings.Join(out, " ")
}

// bestOf returns the position of the best candidate of one arm, with the program that it began with.
func bestOf(r *history.Lineage, arm int) int {
	best := -1
	for i, c := range r.Candidates {
		if c.Valid && (c.Arm == arm || c.Arm < 0) && (best < 0 || c.Score > r.Candidates[best].Score) {
			best = i
		}
	}
	return best
}
