//go:build soak && linux

package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task/tree"
)

// A realAgent is a coding agent of others, by its command line in docs/operations.md.
type realAgent struct {
	program string // that has to be on PATH
	line    string
	varies  bool // its requests hold random numbers, so a session that is made again asks for something else
}

var realAgents = []realAgent{
	{"claude", "ANTHROPIC_MODEL=any CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude -p --permission-mode acceptEdits", false},
	{"qwen", "qwen -y --auth-type openai -m any", false},
	{"codex", `exec codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m any -c model_provider=evo ` +
		`-c "model_providers.evo={name=\"evo\",base_url=\"$OPENAI_BASE_URL\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}" -`,
		true},
	{"opencode", `export OPENCODE_CONFIG_CONTENT='{"provider":{"evo":{"npm":"@ai-sdk/openai-compatible","options":{` +
		`"baseURL":"{env:OPENAI_BASE_URL}","apiKey":"{env:OPENAI_API_KEY}"},"models":{"any":{"tool_call":true}}}},` +
		`"model":"evo/any","small_model":"evo/any","autoupdate":false}'; exec opencode run -m evo/any --auto "$(cat)"`, false},
	{"pi", `mkdir -p ~/.pi/agent; echo '{"providers":{"evo":{"baseUrl":"'$OPENAI_BASE_URL'","api":"openai-completions",` +
		`"apiKey":"OPENAI_API_KEY","models":[{"id":"any"}]}}}' > ~/.pi/agent/models.json; ` +
		`PI_OFFLINE=1 exec pi --provider evo --model any -p`, false},
}

// realRun makes or resumes a run in dir: args are the server's URL, the base, an agent's index, and the budget of calls.
func realRun(dir string, args []string) error {
	var i, calls int
	if _, err := fmt.Sscan(args[2]+" "+args[3], &i, &calls); err != nil {
		return err
	}
	tk, err := tree.New(tree.Config{Base: args[1], Open: []string{"prog.py"}, About: "Make VALUE in prog.py larger.",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			var value float64
			_, after, _ := strings.Cut(program, "VALUE = ")
			fmt.Sscan(after, &value)
			return eval.Result{Valid: true, Score: value}, nil
		})})
	if err != nil {
		return err
	}
	editor, err := command.NewEditor(command.Config{Base: args[1], Env: []string{"PATH"}, Timeout: 10 * time.Minute,
		Run: []string{"sh", "-c", realAgents[i].line}})
	if err != nil {
		return err
	}
	client, err := openai.New(openai.Config{BaseURL: args[0], Model: llm.Models()[0]})
	if err != nil {
		return err
	}
	search, err := population.New(population.Config{Task: tk, LLM: llm.Retry(client, llm.RetryConfig{}), N: 2,
		Operators: []population.Operator{&agent.Command{Editor: editor, Bounds: agent.Bounds{Calls: 8, Tokens: 4 << 20}}}})
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
	if err != nil {
		return err
	}
	r, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{search}, Journal: j,
		Budget: evolve.Budget{Calls: calls, Stalls: -1}})
	if err != nil {
		return err
	}
	data, err := json.Marshal(answeredIn(r))
	return errors.Join(err, j.Close(), os.WriteFile(filepath.Join(dir, "calls.json"), data, 0o600),
		result.Save(filepath.Join(dir, "result.json"), report.NewBandit(r, report.BanditHeader{ArmSeeds: []uint32{0}})))
}

// driving returns a server whose model drives an agent by its shell: it looks and leaves a note, edits, and is done.
func driving(t *testing.T) *till {
	s := &till{reported: map[llm.Usage]string{}}
	s.Server = llmtest.NewServer(llmtest.Config{
		Latency: llmtest.LogNormal{Median: 200 * time.Millisecond, Sigma: 0.3, Cap: time.Second},
		Reply:   func(llmtest.Request) string { return "I work on it." },
		Calls: func(r llmtest.Request) []llm.ToolCall {
			steps := []string{"cat prog.py; echo note > NOTES.md", fmt.Sprintf("sed -i 's/= .*/= %d/' prog.py", 10+r.Seed%1000)}
			for _, m := range r.Messages {
				if m.Role == llm.ToolResult && len(steps) > 0 {
					steps = steps[1:]
				}
			}
			for _, tool := range r.Tools {
				switch strings.ToLower(tool.Name) {
				case "bash", "shell", "run_shell_command", "exec_command":
					if len(steps) > 0 {
						all := map[string]any{"command": steps[0], "cmd": steps[0], "description": "work", "is_background": false}
						maps.DeleteFunc(all, func(field string, _ any) bool {
							return !strings.Contains(tool.Parameters, `"`+field+`"`)
						})
						arguments, _ := json.Marshal(all)
						return []llm.ToolCall{{Name: tool.Name, Arguments: string(arguments)}}
					}
				}
			}
			return nil
		},
		Fault: func(r llmtest.Request) llmtest.Fault {
			if r.Occurrence > 0 {
				s.mu.Lock()
				s.again++
				s.mu.Unlock()
			}
			return ""
		},
		Usage: func(r llmtest.Request, _ string) llmtest.Usage {
			s.mu.Lock()
			defer s.mu.Unlock()
			u := llmtest.Usage{PromptTokens: 10, CompletionTokens: 1 + len(s.reported)}
			s.reported[u] = "agent"
			return u
		},
	})
	t.Cleanup(s.Close)
	return s
}

// Each agent makes a better child and leaves a note behind, the endpoint's account is the result's, and a run that is
// killed pays for nothing that was answered once more and ends as one that is not.
func TestRealAgents(t *testing.T) {
	killtest.Main(realRun)
	for i, a := range realAgents {
		t.Run(a.program, func(t *testing.T) {
			if _, err := exec.LookPath(a.program); err != nil {
				t.Skipf("%s is not installed: see docs/operations.md", a.program)
			}
			base := t.TempDir()
			if err := os.WriteFile(filepath.Join(base, "prog.py"), []byte("VALUE = 1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			kills := cmp.Or(*kills, 4)
			calls := 4 * kills
			srv := driving(t)
			undisturbed, took := killtest.Undisturbed(t, srv.URL, base, fmt.Sprint(i), fmt.Sprint(calls))
			srv.check(t, undisturbed, calls, 0)
			text, _ := os.ReadFile(filepath.Join(undisturbed, "run.journal"))
			if !bytes.Contains(text, []byte("NOTES.md is not open")) {
				t.Error("no note was left out")
			}
			was := saved(t, undisturbed)
			var best []float64
			if err := json.Unmarshal(was, &best); err != nil || len(best) == 0 || best[len(best)-1] <= 1 {
				t.Errorf("no better child: %s, %v", was, err)
			}
			srv = driving(t)
			dir, met := killtest.Killed(t, kills, min(took/2, 3*took/time.Duration(kills)+time.Second), srv.URL, base,
				fmt.Sprint(i), fmt.Sprint(calls))
			lost := lost(t, filepath.Join(dir, "run.journal"))
			t.Logf("%d of %d kills met a run, %d calls were lost, and %d requests sent again", met, kills, lost, srv.again)
			if a.varies {
				return
			}
			srv.check(t, dir, calls, lost)
			if is := saved(t, dir); !bytes.Equal(was, is) || srv.again > lost {
				t.Errorf("%d requests were sent again, %d were under way at kills; another result:\n%.1000s\n%.1000s", srv.again,
					lost, was, is)
			}
		})
	}
}
