package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

const secret = "sk-not-for-candidates"

// pythonPath is an interpreter for the attacks that are written in Python; "" if there is none.
var pythonPath string

// TestMain counts processes and files before and after all tests.
func TestMain(m *testing.M) {
	var err error
	if pythonPath, err = python.Find(context.Background()); err != nil {
		notrun.Say("eval/command", "attacks written in Python", err, "install python3")
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	tmp, err := os.MkdirTemp("", "test-command-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(tmp)
	os.Setenv("TMPDIR", tmp)
	os.Setenv("EVOALLOC_SECRET", secret)
	// Somebody of the same user who knows the secret from the start, as this process does not.
	holder := exec.Command("sleep", "1000")
	holder.Env = []string{"EVOALLOC_SECRET=" + secret}
	if err := holder.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	}()
	before := leftovers(tmp)
	code := m.Run()
	if after := leftovers(tmp); len(after) > len(before) {
		fmt.Printf("left behind: %q, and before there was %q\n", after, before)
		return 1
	}
	return code
}

// leftovers returns what a run can leave behind: files, and processes, which have the name of their
// folder in their arguments or environment. A dead one only waits for the system to reap it.
func leftovers(tmp string) []string {
	found, _ := filepath.Glob(tmp + "/evoalloc-*")
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, state, _ := strings.Cut(string(stat), ") ")
		cmdline, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if !strings.HasPrefix(state, "Z") && strings.Contains(string(cmdline)+string(environ), tmp+"/evoalloc-") {
			found = append(found, fmt.Sprintf("process %s %.60q", e.Name(), cmdline))
		}
	}
	return found
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))
