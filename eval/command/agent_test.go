package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

// An agent in Python that speaks both dialects works in the base through a gateway, whose socket is all that it reaches:
// what it writes as the model asks is the program. One that lies to the gateway first does the same, and one that leaves
// children behind asks nothing after its end.
func TestAgentThroughAGateway(t *testing.T) {
	t.Parallel()
	needPython(t)
	script, err := filepath.Abs(filepath.Join("..", "..", "llm", "gateway", "testdata", "agent.py"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := editing(t)
	cfg.Memory, cfg.Processes = 16<<30, 256 // each of the agent's many threads reserves an arena and a stack
	path := filepath.Join(t.TempDir(), "s")
	g, err := gateway.Listen(gateway.Config{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, words := range [][]string{{"work", "openai", "streamed"}, {"work", "openai", "whole"},
		{"work", "anthropic", "streamed"},
		{"work", "anthropic", "whole"}, {"liar", "anthropic", "whole"}, {"fork", "openai", "whole"}} {
		cfg := cfg
		cfg.Run = append([]string{pythonPath, "-"}, words...) // the prompt is the agent
		e := editorWithout(t, cfg, nil)
		if err := e.CanReach(); err != nil {
			t.Skip(err)
		}
		var asked atomic.Int32
		s := g.Open(gateway.SessionConfig{Ask: func(_ context.Context, req llm.Request) (llm.Reply, error) {
			asked.Add(1)
			r := llm.Reply{Text: "done", Attempts: []llm.Attempt{{Status: llm.OK,
				Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 3}}}}
			if last := req.Messages[len(req.Messages)-1]; last.Role == llm.User && words[0] != "fork" {
				r.Text, r.Calls = "", []llm.ToolCall{{ID: "c1", Name: "write",
					Arguments: `{"path":"sub/new.txt","text":"hello\n"}`}}
			}
			return r, nil
		}})
		env := s.Env()
		for i := range env {
			if words[0] == "liar" { // which wants a port
				env[i] = strings.Replace(env[i], "http://localhost", "http://{address}", 1)
			}
		}
		out, err := e.Edit(t.Context(), changed, Job{Prompt: string(text), Env: env, Socket: path})
		if err != nil || out.Fault != nil {
			t.Errorf("%v: %v, %v, %+v", words, err, out.Fault, out)
			continue
		}
		var report struct{ Status, Tokens int }
		if err := json.Unmarshal([]byte(out.Stdout), &report); err != nil || report.Status != 200 {
			t.Errorf("%v: printed %q, %v", words, out.Stdout, err)
		}
		if before := asked.Load(); words[0] == "fork" {
			if s.Close(); before < 3 || asked.Load() != before {
				t.Errorf("%v: %d calls until its end, and %d later", words, before, asked.Load())
			}
			continue
		}
		s.Close()
		want, err := patch.Parse(changed)
		if err != nil {
			t.Fatal(err)
		}
		want.Files["sub/new.txt"] = "hello\n"
		if out.Program != want.String() || report.Tokens != 24 {
			t.Errorf("%v: %d tokens, left %q", words, report.Tokens, out.Program)
		}
	}
}
