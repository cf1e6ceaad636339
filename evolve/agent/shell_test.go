package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/task/tree"
)

// A line runs in a checkout of its own: what it changes is gone for the next one, and it sees the program's changes.
func TestShell(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tk, err := tree.New(tree.Config{Base: dir, Open: []string{"*.txt"}, Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	program, err := tk.WithFile(tk.Initial(), "a.txt", "new")
	if err != nil {
		t.Fatal(err)
	}
	shell, err := agent.NewShell(command.Config{Base: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET_KEY", "hidden")
	for _, tt := range []struct{ line, want string }{
		{"cat a.txt; echo x > a.txt; echo y >&2", "new\ny\n"},
		{"cat a.txt; exit 3", "new\n\n[exited with status 3"},
		{"echo ${SECRET_KEY:-none}; cat /proc/1/environ | tr '\\0' '\\n' | grep -c SECRET", "none\n0\n"},
		{"yes | head -c 100000 | tail -c 50000 | wc -c", "50000\n"},
	} {
		out, err := shell(t.Context(), program, tt.line)
		if err != nil || !strings.HasPrefix(out, tt.want) {
			t.Errorf("%s: %.200q, %v, want %q", tt.line, out, err, tt.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "old\n" {
		t.Errorf("the base has %q, %v", text, err)
	}
}
