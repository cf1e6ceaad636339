//go:build unix

package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/command"
)

var hi = llm.Request{Seed: 7, Messages: []llm.Message{{Role: llm.User, Content: "hi there"}}}

// shell returns a model that is a script, with change applied to its configuration.
func shell(t *testing.T, script string, change func(*command.Config)) *command.Command {
	t.Helper()
	cfg := command.Config{Args: []string{"sh", "-c", script},
		Model: llm.Model{Key: "script", Timeout: time.Minute, MaxTokens: 100}}
	if change != nil {
		change(&cfg)
	}
	c, err := command.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGenerate(t *testing.T) {
	c := shell(t, `cat; echo "seed $0 at most $1"`, func(c *command.Config) {
		c.Args = append(c.Args, "{seed}", "{max_tokens}")
	})
	reply, err := c.Generate(t.Context(), hi)
	if err != nil || reply.Text != "hi there\nseed 7 at most 100\n" || len(reply.Attempts) != 1 {
		t.Fatalf("%+v, %v", reply, err)
	}
	a := reply.Attempts[0]
	if a.Status != llm.OK || a.Usage != nil || a.Reported || a.Streamed != 7 || a.MaxTokens != 100 ||
		a.Model != "script" || a.Endpoint != "sh" {
		t.Errorf("attempt %+v", a)
	}
}

// What a command reports of its usage is in the attempt, as its own word, also if it failed.
func TestReportedUsage(t *testing.T) {
	for _, script := range []string{"cat >/dev/null; printf '%s' '" + claudes + "'",
		"printf '%s' '" + claudes + "'; echo no >&2; exit 3"} {
		c := shell(t, strings.ReplaceAll(script, `\n`, ""), func(c *command.Config) { c.Parse = command.Claude })
		reply, err := c.Generate(t.Context(), hi)
		if failed := strings.Contains(script, "exit"); failed != (err != nil) || len(reply.Attempts) != 1 {
			t.Fatalf("%+v, %v", reply, err)
		}
		a := reply.Attempts[0]
		if !a.Reported || a.Money != 0.10457895 || a.Usage == nil ||
			*a.Usage != (llm.Usage{PromptTokens: 21294, CachedTokens: 13368, CompletionTokens: 9}) {
			t.Errorf("attempt %+v, usage %+v", a, a.Usage)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		reason, script string
		change         func(*command.Config)
		status         llm.Status
		kind, says     string
	}{
		{"an exit status, and what it printed before",
			"cat >/dev/null; echo half; printf 'quota \\033[31mspent\\n' >&2; exit 3", nil,
			llm.Failed, llm.KindOther, "exit status 3: quota spent"},
		{"a signal", "kill -9 $$", nil, llm.Failed, llm.KindOther, "signal: killed"},
		{"nothing printed", "true", nil, llm.Failed, llm.KindBrokenReply, "printed no reply"},
		{"nothing printed but an error", "echo broken >&2", nil, llm.Failed, llm.KindBrokenReply, "printed no reply: broken"},
		{"a binary", `printf 'a\0b'`, nil, llm.Failed, llm.KindBrokenReply, "no text"},
		{"output without end", "yes", func(c *command.Config) { c.MaxOutput = 1 << 16 }, llm.Failed, llm.KindBrokenReply,
			"more than 65536 bytes"},
		{"output without end, of one that ignores signals", "trap '' TERM INT PIPE HUP; while :; do echo x; done",
			func(c *command.Config) { c.MaxOutput = 100 },
			llm.Failed, llm.KindBrokenReply, "more than 100 bytes"},
		{"errors without end", "yes | head -c 10000000 >&2; exit 4", nil, llm.Failed, llm.KindOther, "exit status 4: y y"},
		{"no end", "trap '' TERM INT; while :; do sleep 1; done",
			func(c *command.Config) { c.Model.Timeout = 200 * time.Millisecond },
			llm.Timeout, "", "no end within 200ms"},
		{"a prompt that is not read", "exec </dev/null; sleep 0.05; exit 5", func(c *command.Config) {
			c.Prompt = func(llm.Request) (string, error) { return strings.Repeat("x", 1<<20), nil }
		}, llm.Failed, llm.KindOther, "exit status 5"},
		{"no folder", "cat", func(c *command.Config) { c.Dir = "/nonexistent" }, llm.Failed, llm.KindRefused,
			"does not start"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			reply, err := shell(t, tt.script, tt.change).Generate(t.Context(), hi)
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Status != tt.status || e.Kind != tt.kind || !strings.Contains(err.Error(), tt.says) ||
				strings.Contains(err.Error(), "\x1b") {
				t.Errorf("error %v, %+v", err, e)
			}
			if len(reply.Attempts) != 1 || reply.Attempts[0].Status != tt.status || reply.Attempts[0].Kind != tt.kind ||
				len(reply.Attempts[0].Err) > 2048 {
				t.Errorf("attempts %+v", reply.Attempts)
			}
		})
	}
	c := shell(t, "cat", func(c *command.Config) {
		c.Prompt = func(llm.Request) (string, error) { return "", errors.New("no images") }
	})
	if reply, err := c.Generate(t.Context(), hi); err == nil || len(reply.Attempts) > 0 ||
		!strings.Contains(err.Error(), "no images") {
		t.Errorf("a request that has no prompt: %+v, %v", reply, err)
	}
}

// A caller that gives up gets its call back at once, as an attempt that was canceled.
func TestCanceled(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat(begun); err != nil; _, err = os.Stat(begun) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	reply, err := shell(t, fmt.Sprintf("touch %q; sleep 1000", begun), nil).Generate(ctx, hi)
	if llm.StatusOf(err) != llm.Canceled || len(reply.Attempts) != 1 || reply.Attempts[0].Status != llm.Canceled {
		t.Errorf("%+v, %v", reply, err)
	}
	if reply, err := shell(t, "cat", nil).Generate(ctx, hi); !errors.Is(err, context.Canceled) || len(reply.Attempts) > 0 {
		t.Errorf("canceled before: %+v, %v", reply, err)
	}
}

// Children that the command leaves behind are killed with it, and one that left its group does not hold up the call.
func TestChildren(t *testing.T) {
	for reason, tt := range map[string]struct {
		script string
		ok     bool
	}{
		"a child in the background, with the pipe open": {`sleep 1000 & echo $! >%q; echo hello`, true},
		"a child of one that does not end":              {`sleep 1000 & echo $! >%q; sleep 1000`, false},
	} {
		pids := filepath.Join(t.TempDir(), "pids")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if !tt.ok {
			go func() { // there is a child once its number is there
				for text, _ := os.ReadFile(pids); !strings.HasSuffix(string(text), "\n") && ctx.Err() == nil; text,
					_ = os.ReadFile(pids) {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
		}
		c := shell(t, fmt.Sprintf(tt.script, pids), func(c *command.Config) { c.Model.Timeout = time.Hour })
		reply, err := c.Generate(ctx, hi)
		if (err == nil) != tt.ok || tt.ok && reply.Text != "hello\n" {
			t.Errorf("%s: %+v, %v", reason, reply, err)
		}
		text, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for runs(pid) { // killing takes a moment
			time.Sleep(time.Millisecond)
		}
	}
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("no setsid")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	reply, err := shell(t, fmt.Sprintf(`setsid sh -c 'echo $$ >%q; exec sleep 1000' & while [ ! -s %q ]; do sleep 0.01; done; echo hello`, pids, pids), nil).
		Generate(t.Context(), hi)
	if err != nil || reply.Text != "hello\n" {
		t.Errorf("a child outside of the group: %+v, %v", reply, err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// runs reports whether a process is alive, and no zombie that nobody reaps.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// Secrets of this process are not the command's, unless they are asked for.
func TestEnvironment(t *testing.T) {
	t.Setenv("LLM_API_KEY", "sk-secret")
	t.Setenv("My_Access_Token", "sk-secret")
	t.Setenv("PLAIN", "plain")
	const show = `echo "$LLM_API_KEY $My_Access_Token $PLAIN $OWN"; pwd; ls -A`
	reply, err := shell(t, show, func(c *command.Config) { c.Env = []string{"OWN=a=b"} }).Generate(t.Context(), hi)
	lines := strings.Split(reply.Text, "\n")
	if err != nil || lines[0] != "  plain a=b" || len(lines) != 3 || !strings.Contains(lines[1], "evoalloc-llm-command-") {
		t.Errorf("%q, %v", reply.Text, err)
	}
	if _, err := os.Stat(lines[1]); !os.IsNotExist(err) {
		t.Errorf("the working directory is left: %v", err)
	}
	dir := t.TempDir()
	reply, err = shell(t, show, func(c *command.Config) {
		c.Env, c.Dir = []string{"LLM_API_KEY", "ABSENT_KEY"}, dir
	}).Generate(t.Context(), hi)
	if err != nil || !strings.HasPrefix(reply.Text, "sk-secret  plain \n") ||
		!strings.Contains(reply.Text, filepath.Base(dir)) {
		t.Errorf("%q, %v", reply.Text, err)
	}
}

func TestNewRejects(t *testing.T) {
	for _, tt := range []struct {
		cfg  command.Config
		says string
	}{
		{command.Config{}, "names no command"},
		{command.Config{Args: []string{"evoalloc-no-such-command"}}, "evoalloc-no-such-command"},
		{command.Config{Args: []string{"sh"}, MaxOutput: -1}, "MaxOutput -1"},
		{command.Config{Args: []string{"sh"}, Model: llm.Model{Timeout: -1}}, "timeout -1ns"},
	} {
		if _, err := command.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %q", err, tt.says)
		}
	}
}

// A command under the usual stack: retried, and each attempt in the reply.
func TestStack(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	c := shell(t, fmt.Sprintf("[ -e %q ] && exec cat; touch %q; exit 1", once, once), nil)
	l := llm.Retry(llm.Limit(c, 2), llm.RetryConfig{Max: 2, Wait: time.Millisecond})
	reply, err := l.Generate(t.Context(), hi)
	if err != nil || reply.Text != "hi there\n" || len(reply.Attempts) != 2 || reply.Attempts[0].Err == "" {
		t.Errorf("%+v, %v", reply, err)
	}
}

func Example() {
	model, err := command.New(command.Config{
		Args:  []string{"sh", "-c", `tr a-z A-Z`}, // or "ollama", "run", "qwen3:8b"
		Model: llm.Model{Key: "shouting"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}})
	fmt.Print(reply.Text, err)
	// Output:
	// HELLO
	// <nil>
}

// What a killed process left is removed, and what a command works in is not, be it that of a version that did not claim it.
func TestFoldersOfTheKilled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	left, earlier := filepath.Join(dir, "evoalloc-llm-command-17"), filepath.Join(dir, "evoalloc-command-18")
	for _, folder := range []string{left, earlier} {
		if err := os.MkdirAll(filepath.Join(folder, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf(`touch %[1]s/begun; while [ ! -e %[1]s/go ]; do sleep 0.01; done; [ -d "$PWD" ] && echo there`,
		dir)
	c := shell(t, script, nil)
	if _, err := os.Stat(left); err == nil {
		t.Error("the folder of a killed process is left")
	}
	said := make(chan string)
	go func() {
		reply, _ := c.Generate(t.Context(), hi)
		said <- reply.Text
	}()
	for _, err := os.Stat(filepath.Join(dir, "begun")); err != nil; _, err = os.Stat(filepath.Join(dir, "begun")) {
		time.Sleep(time.Millisecond)
	}
	shell(t, "true", nil) // another one begins
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := <-said; text != "there\n" {
		t.Errorf("a command whose folder is in use found %q", text)
	}
	if rest, _ := filepath.Glob(filepath.Join(dir, "evoalloc-*")); len(rest) != 1 || rest[0] != earlier {
		t.Errorf("left %v, want the folder of an earlier version alone", rest)
	}
}
