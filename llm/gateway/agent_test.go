package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

// interpreter is the Python of this machine, and noPython why there is none.
var (
	interpreter string
	noPython    error
)

func TestMain(m *testing.M) {
	if interpreter, noPython = python.Find(context.Background()); noPython != nil {
		notrun.Say("llm/gateway", "agents in Python", noPython, "install python3")
	}
	os.Exit(m.Run())
}

// A report is what an agent prints.
type report struct {
	Status, Tokens, Tries int
	Text, Error           string
	Statuses              json.RawMessage
}

// start starts the agent of testdata in a folder of its own, with nothing in its environment but the session.
func start(t *testing.T, s *gateway.Session, mode, dialect, how string) (dir string, wait func() report) {
	t.Helper()
	if noPython != nil {
		notrun.Skip(t)
	}
	script, err := filepath.Abs("testdata/agent.py")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), interpreter, script, mode, dialect, how)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, s.Env(), &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return dir, func() (r report) {
		t.Helper()
		err := cmd.Wait()
		if err == nil {
			err = json.Unmarshal(stdout.Bytes(), &r)
		}
		if err != nil {
			t.Fatalf("%s %s: %v\n%s%s", mode, dialect, err, &stdout, &stderr)
		}
		if strings.Contains(stdout.String()+stderr.String(), secret) {
			t.Errorf("%s %s: the agent saw the key: %s%s", mode, dialect, &stdout, &stderr)
		}
		return r
	}
}

// worker answers as a model that has two files written, and then is done, and counts what its answers cost.
type worker struct {
	asker
	tokens int // guarded by asker's mu
}

func (w *worker) ask(ctx context.Context, req llm.Request) (llm.Reply, error) {
	w.do = func(context.Context, llm.Request) (llm.Reply, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		u := &llm.Usage{PromptTokens: 100 + len(w.reqs), CachedTokens: 50, CompletionTokens: 7}
		w.tokens += u.PromptTokens + u.CompletionTokens
		r := llm.Reply{Text: "done", Attempts: []llm.Attempt{{Status: llm.OK, Usage: u}}}
		if last := req.Messages[len(req.Messages)-1]; last.Role == llm.User {
			r.Text = ""
			r.Calls = []llm.ToolCall{
				{ID: "c1", Name: "write", Arguments: `{"path":"a.txt","text":"hello"}`},
				{ID: "c2", Name: "write", Arguments: `{"path":"b.txt","text":"` + strings.Repeat("ü", 3000) + `"}`},
			}
		}
		return r, nil
	}
	return w.asker.ask(ctx, req)
}

// Agents in both dialects, streamed and whole, have two files written, and are told what that cost.
func TestAgents(t *testing.T) {
	for _, dialect := range []string{"openai", "anthropic"} {
		for _, how := range []string{"streamed", "whole"} {
			t.Run(dialect+" "+how, func(t *testing.T) {
				w := &worker{}
				s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: w.ask})
				dir, wait := start(t, s, "work", dialect, how)
				if r := wait(); r.Status != 200 || r.Text != "done" || r.Tokens != w.tokens {
					t.Errorf("report %+v, and the model counted %d tokens", r, w.tokens)
				}
				for name, want := range map[string]string{"a.txt": "hello", "b.txt": strings.Repeat("ü", 3000)} {
					if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
						t.Errorf("%s is %q, %v", name, got, err)
					}
				}
				reqs := w.asked()
				if len(reqs) != 2 || len(reqs[1].Messages) != 5 || len(reqs[1].Messages[2].Calls) != 2 ||
					reqs[1].Messages[4].CallID != "c2" {
					t.Errorf("asked %+v", reqs)
				}
			})
		}
	}
}

// An agent that gives up and asks again until it is answered is answered by one call, however often it asked.
func TestImpatientAgent(t *testing.T) {
	for _, dialect := range []string{"openai", "anthropic"} {
		h := hold()
		s, a := open(t, gateway.Config{}, h.ask)
		_, wait := start(t, s, "impatient", dialect, "whole")
		<-h.begun
		await(s, 0, 1) // it gave up
		await(s, 1, 0) // it asks again
		close(h.release)
		if r := wait(); r.Status != 200 || r.Text != "hello" || r.Tries < 2 || len(a.asked()) != 1 {
			t.Errorf("%s: report %+v, %d calls", dialect, r, len(a.asked()))
		}
	}
}

// An agent that sends what no client should is refused, and serves on.
func TestLyingAgent(t *testing.T) {
	w := &worker{}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: w.ask})
	_, wait := start(t, s, "liar", "anthropic", "whole")
	// Fields that are not known are ignored. A session's token counts in either header.
	if r := wait(); string(r.Statuses) != "[200, 400, 400, 400, 400, 401, 401, 200]" || r.Text != "done" {
		t.Errorf("report %+v, statuses %s", r, r.Statuses)
	}
}

// Children that an agent leaves behind get nothing more once its session is closed.
func TestForkingAgent(t *testing.T) {
	s, a := open(t, gateway.Config{}, says("hello"))
	dir, wait := start(t, s, "fork", "openai", "whole")
	wait()
	s.Close()
	calls := len(a.asked())
	for i := range 3 {
		var child struct{ Status, Asked int }
		for { // until it has given up
			text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("child.%d", i)))
			if err != nil {
				time.Sleep(time.Millisecond)
				continue
			}
			if err := json.Unmarshal(text, &child); err != nil || child.Status != 403 || child.Asked < 2 {
				t.Errorf("child %d: %+v, %v", i, child, err)
			}
			break
		}
	}
	if n := len(a.asked()); n != calls {
		t.Errorf("%d calls after the session was closed", n-calls)
	}
}

// A shell script runs an agent in each dialect at once, in one session.
func TestAgentOfShell(t *testing.T) {
	if noPython != nil {
		notrun.Skip(t)
	}
	script, err := filepath.Abs("testdata/agent.sh")
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: w.ask})
	cmd := exec.CommandContext(t.Context(), "/bin/sh", script, interpreter)
	cmd.Dir, cmd.Env = t.TempDir(), append(s.Env(), "PATH=/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var one, two report
	dec := json.NewDecoder(bytes.NewReader(out))
	if err := errors.Join(dec.Decode(&one), dec.Decode(&two)); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if one.Text != "done" || two.Text != "done" || one.Tokens+two.Tokens != w.tokens ||
		!bytes.HasSuffix(out, []byte("hellohello")) {
		t.Errorf("printed %s, and the model counted %d tokens", out, w.tokens)
	}
	if diff := cmp.Diff(4, len(w.asked())); diff != "" {
		t.Error(diff)
	}
}
