package agent_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/tree"
)

// answers is a tree whose answer.txt scores the number that it holds.
func answers(t *testing.T) (tk *tree.Task, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"answer.txt": "0\n", "test.txt": "frozen\n", ".gitignore": "*.log\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	tk, err = tree.New(tree.Config{Base: dir, Open: []string{"*.txt"}, Frozen: []string{"test.txt"},
		About: "Write a large number.",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			_, after, _ := strings.Cut(program, "-- answer.txt --\n")
			line, _, _ := strings.Cut(after, "\n")
			n, _ := strconv.Atoi(line)
			return eval.Result{Valid: true, Score: float64(n)}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return tk, dir
}

// fake returns an Editor that runs the fake agent with words, and skips where none can be.
func fake(t *testing.T, dir string, level isolation.Level, words ...string) *command.Editor {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "").Run()
	}
	if err != nil {
		notrun.Say("evolve/agent", "agents that are programs", err, "install python3")
		notrun.Skip(t)
	}
	script, err := filepath.Abs("testdata/fake.py")
	if err != nil {
		t.Fatal(err)
	}
	e, err := command.NewEditor(command.Config{Base: dir, Run: append([]string{python, script}, words...),
		Env: []string{"PATH"}, Isolation: level, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// reach skips where no contained command can have a network of one socket.
func reach(t *testing.T, e *command.Editor) {
	t.Helper()
	if err := e.CanReach(); err != nil {
		notrun.Say("evolve/agent", "agents behind a gateway", err, "use a Linux with user namespaces")
		notrun.Skip(t)
	}
}

// counting answers with how often it was asked, from 1.
func counting(asked *atomic.Int64) llm.LLM {
	return llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: fmt.Sprint(asked.Add(1)),
			Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 100, CompletionTokens: 10}}}}, nil
	})
}

// ran makes a run of one child by the agent, with a journal in dir.
func ran(t *testing.T, tk *tree.Task, c *agent.Command, model llm.LLM, calls int, dir string) *evolve.Result {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, "j"), journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	search, err := population.New(population.Config{Task: tk, LLM: model, N: 1, Operators: []population.Operator{c}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{search}, Journal: j,
		Budget: evolve.Budget{Rounds: 1, Calls: calls}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A real process that speaks both dialects makes a child, whatever else it tries. A run that is over does not start it.
func TestCommand(t *testing.T) {
	t.Setenv("LLM_API_KEY", "sk-real")
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	port := strconv.Itoa(host.Addr().(*net.TCPAddr).Port)
	for _, tt := range []struct {
		words   string
		program bool
		calls   int
		score   float64
		told    string // of a child without a program
	}{
		{"works", true, 4, 10, ""},
		{"key", true, 4, 10, ""},
		{"network " + port, true, 4, 10, ""},
		{"outside", true, 4, 10, ""},
		{"terminal", true, 4, 10, ""},
		{"fails", true, 4, 10, ""},
		{"earlier", true, 4, 10, ""},
		{"frozen", false, 4, 0, "frozen"},
		{"stray", true, 4, 10, ""},
		{"idle", false, 4, 0, "said, last: I may not write files.; it printed on standard error, last: denied"},
		{"many", true, 7, 0, ""}, // cut at the budget
		{"frozen", false, 2, 0, "; the agent was stopped: 2 calls are the most"},
		{"frozen", false, 3, 0, "; the agent was stopped: the budget had 3 calls left for it"},
	} {
		t.Run(tt.words, func(t *testing.T) {
			tk, dir := answers(t)
			var asked atomic.Int64
			c := &agent.Command{Editor: fake(t, dir, isolation.BestEffort, strings.Fields(tt.words)...)}
			if reach(t, c.Editor); tt.calls == 2 {
				c.Bounds.Calls = 2
			}
			state := t.TempDir()
			budget := 7
			if tt.calls == 3 {
				budget = 3
			}
			r := ran(t, tk, c, counting(&asked), budget, state)
			child := r.Arms[0].Generations[0].Children[0]
			if r.Calls != tt.calls || int(asked.Load()) != tt.calls || child.HasProgram() != tt.program ||
				!strings.Contains(child.Err, tt.told) {
				t.Errorf("%d calls (%d asked), child %+v", r.Calls, asked.Load(), child)
			}
			if tt.score > 0 && child.Result.Score != tt.score {
				t.Errorf("score %v, want %v", child.Result.Score, tt.score)
			}
			for _, a := range r.Arms[0].Generations[0].Asides {
				if a.Kind != "agent" || a.Child != child.ID {
					t.Errorf("%+v", a)
				}
			}
			if again := ran(t, tk, c, counting(&asked), budget, state); int(asked.Load()) != tt.calls ||
				again.Best.Program != r.Best.Program {
				t.Errorf("made again it asks %d times, for %q", int(asked.Load())-tt.calls, again.Best.Program)
			}
		})
	}
}

// A session that is cut short and made again finds the same paths, times, port and variables, so that an agent that puts
// them into its prompts asks for the same, and nothing that was answered is paid for twice.
func TestCommandMadeAgain(t *testing.T) {
	for _, level := range []isolation.Level{isolation.BestEffort, isolation.None} {
		tk, dir := answers(t)
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		c := &agent.Command{Editor: fake(t, dir, level, "where")}
		reach(t, c.Editor)
		state := t.TempDir()
		answered := make(map[string]int)
		play := func(cut int) *evolve.Result {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked := 0
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				if asked++; asked == cut {
					cancel()
					<-ctx.Done()
					return llm.Reply{}, ctx.Err()
				}
				answered[req.Messages[0].Content]++
				return llm.Reply{Text: fmt.Sprint(len(answered)),
					Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 100, CompletionTokens: 10}}}}, nil
			})
			j, err := journal.Open(filepath.Join(state, "j"), journal.Config{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			search, err := population.New(population.Config{Task: tk, LLM: model, N: 1,
				Operators: []population.Operator{c}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{search}, Journal: j,
				Budget: evolve.Budget{Rounds: 1, Calls: 10}})
			if err != nil && cut == 0 {
				t.Fatal(err)
			}
			return r
		}
		play(3)
		if r := play(0); r.Calls != 4 || r.Best.Result.Score != 4 || len(answered) != 4 {
			t.Errorf("%v: %d calls in the result, score %v, %d prompts", level, r.Calls, r.Best.Result.Score, len(answered))
		}
	}
}

// A process that the agent left behind asks for nothing once the agent has ended.
func TestCommandLeavesNothing(t *testing.T) {
	tk, dir := answers(t)
	var asked atomic.Int64
	c := &agent.Command{Editor: fake(t, dir, isolation.BestEffort, "forks")}
	reach(t, c.Editor)
	r := ran(t, tk, c, counting(&asked), 1000, t.TempDir())
	n := asked.Load()
	time.Sleep(200 * time.Millisecond)
	if int(n) != r.Calls || asked.Load() != n {
		t.Errorf("%d calls in the result, %d asked, %d later", r.Calls, n, asked.Load())
	}
}

// An agent with a login of its own is one call, whose usage is its own word.
func TestCommandWithItsOwnLogin(t *testing.T) {
	tk, dir := answers(t)
	var asked atomic.Int64
	parse := agent.Parse(agent.Claude)
	script := filepath.Join(t.TempDir(), "agent.sh")
	if err := os.WriteFile(script, []byte("echo 5 > answer.txt\n"+
		`echo '{"total_cost_usd": 0.25, "usage": {"input_tokens": 70, "output_tokens": 7}, "result": "done"}'`+"\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	e, err := command.NewEditor(command.Config{Base: dir, Run: []string{"sh", script}, Isolation: isolation.None})
	if err != nil {
		t.Fatal(err)
	}
	c := &agent.Command{Editor: e, Parse: parse, Own: llm.Model{Key: "agent", MaxTokens: 1000,
		Price: &llm.Price{Completion: 1000}}}
	state := t.TempDir()
	r := ran(t, tk, c, counting(&asked), 3, state)
	gen := r.Arms[0].Generations[0]
	if len(gen.Asides) != 1 || len(gen.Asides[0].Attempts) != 1 || gen.Children[0].Result.Score != 5 || asked.Load() != 0 {
		t.Fatalf("%+v", gen)
	}
	a := gen.Asides[0].Attempts[0]
	if !a.Reported || a.Money != 0.25 || a.Usage == nil || a.Usage.PromptTokens != 70 || a.Model != "agent" ||
		a.MaxTokens != 1000 {
		t.Errorf("%+v", a)
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if again := ran(t, tk, c, counting(&asked), 3, state); again.Best.Program != r.Best.Program {
		t.Errorf("made again: %+v", again.Best)
	}
}

// Folders of a version that did not claim them may be in use, so they stay. Those of killed processes are removed.
func TestFoldersOfEarlierVersions(t *testing.T) {
	tk, dir := answers(t)
	c := &agent.Command{Editor: fake(t, dir, isolation.BestEffort, "works")}
	reach(t, c.Editor)
	tmp, err := os.MkdirTemp("/tmp", "t") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	t.Setenv("TMPDIR", tmp)
	earlier, killed := filepath.Join(tmp, "evoalloc-agent-17"), filepath.Join(tmp, "evoalloc-socket-17")
	for _, dir := range []string{earlier, killed} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var asked atomic.Int64
	ran(t, tk, c, counting(&asked), 7, t.TempDir())
	if _, err := os.Stat(earlier); err != nil || asked.Load() == 0 {
		t.Errorf("after %d calls: %v", asked.Load(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "evoalloc-socket-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
