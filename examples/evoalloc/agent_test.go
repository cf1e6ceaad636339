package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	contained "github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// Children of a tree are made by sessions of a model with tools, or of a command that asks for itself. What sessions cost
// is their operator's, and the command typed again pays for nothing.
func TestAgents(t *testing.T) {
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "a.txt"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var asked, tried atomic.Int64
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(llmtest.Request) string { asked.Add(1); return "### a.txt\n```\n2\n```\n" },
		Calls: func(r llmtest.Request) []llm.ToolCall {
			if len(r.Messages) == 2 {
				return []llm.ToolCall{{Name: "run", Arguments: `{"command":"cat a.txt"}`}}
			}
			for _, m := range r.Messages {
				if strings.HasPrefix(m.Content, "score -3.000000") {
					tried.Add(1)
				}
			}
			edit := []llm.ToolCall{{Name: "edit", Arguments: `{"path":"a.txt","new":"7"}`}, {Name: "try"}}
			if len(r.Messages) < 6 {
				return edit
			}
			return []llm.ToolCall{{Name: "submit"}}
		},
	})
	defer srv.Close()
	for kind, want := range map[string]string{
		agentLoop: `(?s)agent +[1-9]\d* +1 +[1-9].*best      7\.0+, from 1\.0+`,
		"grep -q 'tree of files' && echo 8 > a.txt": `(?s)agent +[1-9]\d* +1 +0 .*best      8\.0+, from 1\.0+`, // which asks for nothing
	} {
		if _, err := (&agentFlags{kind: kind}).operator(contained.Config{Base: base}, ""); err != nil {
			t.Logf("not run here: %v", err) // without network namespaces
			continue
		}
		args := []string{"--agent", kind, "--model", "qwen3-8b", "--api-base", srv.URL, "--T", "3", "--N", "3", "--output",
			t.TempDir(),
			"--base", base, "--change", "*.txt", "--score", "cat a.txt"}
		var printed string
		run := func() {
			printed = runtest.Output(t, func() {
				if err := runPopulations(t.Context(), args); err != nil {
					t.Fatal(err)
				}
			})
		}
		run()
		if !regexp.MustCompile(want).MatchString(printed) {
			t.Errorf("--agent %s printed:\n%s", kind, printed)
		}
		n := asked.Load()
		args = append(args, "--resume")
		run()
		if asked.Load() != n || !regexp.MustCompile(want).MatchString(printed) {
			t.Errorf("--agent %s --resume asks %d times, and prints:\n%s", kind, asked.Load()-n, printed)
		}
	}
	try := []string{"--agent", agentLoop, "--agent-only", "--agent-try", "echo -3", "--model", "qwen3-8b", "--api-base",
		srv.URL, "--T", "3",
		"--N", "2", "--output", t.TempDir(), "--base", base, "--change", "*.txt", "--score", "cat a.txt"}
	printed := runtest.Output(t, func() {
		if err := runPopulations(t.Context(), try); err != nil {
			t.Fatal(err)
		}
	})
	if tried.Load() == 0 || !strings.Contains(printed, "best      7.0") {
		t.Errorf("%d tries had the score of --agent-try:\n%s", tried.Load(), printed)
	}
	for _, args := range [][]string{{"--agent-only"}, {"--agent", agentLoop, "--model", "qwen3-8b", "--agent-try", "x"},
		{"--agent", agentLoop}, {"--agent", agentLoop, "--model", "qwen3-8b", "--agent-calls", "0"},
		{"--agent", "true", "--model", "qwen3-8b", "--agent-text"}} {
		var usage *cli.UsageError
		if err := runPopulations(t.Context(), args); !errors.As(err, &usage) || !strings.Contains(err.Error(), "--agent") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
