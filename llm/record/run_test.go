package record_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/record"
	"github.com/evoalloc/evoalloc/task"
)

// generations plays a greedy run of three generations of sixteen.
func generations(t *testing.T, l llm.LLM) (gens []evolve.Generation, err error) {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: numbers(t), LLM: l, N: 16, Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		gen, err := g.Step(t.Context(), nil)
		gens = append(gens, gen)
		if err != nil {
			return gens, err
		}
	}
	return gens, nil
}

// flaky answers most requests, and is as sure to fail the others.
func flaky(_ context.Context, req llm.Request) (llm.Reply, error) {
	a := llm.Attempt{Status: llm.OK, MaxTokens: 500, Usage: &llm.Usage{PromptTokens: 1000, CompletionTokens: int(req.Seed % 400)}}
	fail := func(e *llm.Error) (llm.Reply, error) {
		return llm.Reply{Attempts: []llm.Attempt{{Status: e.Status, Kind: e.Kind, Err: e.Err.Error(), MaxTokens: 500, Streamed: 9}}}, e
	}
	switch req.Seed % 7 {
	case 1:
		return fail(&llm.Error{Status: llm.Stalled, Err: errors.New("silence")})
	case 2:
		return fail(errServer)
	}
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
	if err != nil {
		return llm.Reply{}, err
	}
	better, err := strconv.ParseFloat(program, 64)
	return llm.Reply{Text: fmt.Sprintf("```text\n%v\n```", better+float64(req.Seed%1000)/1e5), Attempts: []llm.Attempt{a}}, err
}

// numbers is a task whose programs are their scores.
func numbers(t *testing.T) task.Task {
	tk, err := task.New(task.Spec{
		Name: "numbers", Language: "text", Initial: "0",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			v, err := strconv.ParseFloat(program, 64)
			if err != nil {
				return eval.Invalid("not a number: %q", program), nil
			}
			return eval.Result{Score: v, Valid: true}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// A run is repeated from its recording to the last attempt, with no endpoint; and where it asks for
// anything else, it stops and says what.
func TestReplayRepeatsARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	recorder, err := record.File(llm.Func(flaky), path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := generations(t, recorder)
	if err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	replayer, err := record.Replay(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := generations(t, replayer)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(evolve.Generation{}, "Elapsed")); diff != "" {
		t.Errorf("(-recorded +replayed)\n%s", diff)
	}
	if replayer.Left() != 0 {
		t.Errorf("%d exchanges were not asked for", replayer.Left())
	}

	replayer, err = record.Replay(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := evolve.NewGreedy(evolve.GreedyConfig{Task: numbers(t), LLM: replayer, N: 16, Seed: 41})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Step(t.Context(), nil); !errors.Is(err, record.ErrNotRecorded) {
		t.Errorf("a run with another seed: %v", err)
	}
}

// TestMain lets the test binary be a program that records, to be killed by TestRecorderKilled.
func TestMain(m *testing.M) {
	if path := os.Getenv("LLM_TEST_RECORD"); path != "" {
		recordUntilKilled(path)
	}
	os.Exit(m.Run())
}

func recordUntilKilled(path string) {
	r, err := record.File(llm.Func(shout), path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	text := string(bytes.Repeat([]byte("let a = 1;\n"), 3_000))
	for i := 0; ; i++ {
		if _, err := r.Generate(context.Background(), asking(text, uint32(i))); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// What a process said that it has, it has after SIGKILL, and the next one goes on behind it.
func TestRecorderKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	least := 0
	for life := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LLM_TEST_RECORD="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		said := 0
		for said < 8+life && lines.Scan() {
			if lines.Text() != fmt.Sprint(said) {
				t.Fatalf("life %d says %q", life, lines.Text())
			}
			said++
		}
		time.Sleep(time.Duration(life) * time.Millisecond) // into the middle of a write, if it comes so
		cmd.Process.Kill()
		cmd.Wait()
		least += said
		back, err := record.Replay(path)
		if err != nil {
			t.Fatal(err)
		}
		if back.Left() < least {
			t.Fatalf("after life %d: %v, want at least %d exchanges", life, back, least)
		}
		t.Log(back)
		least = back.Left()
	}
}
