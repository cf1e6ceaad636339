package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// files is a base: two files of Go that use each other, a third that nothing uses, a test, and what is not open.
var files = map[string]string{
	"go.mod":          "module m\n",
	"lib/sum.go":      "package lib\n\n// Sum adds.\nfunc Sum(xs []int) int {\n\treturn total(xs)\n}\n",
	"lib/total.go":    "package lib\n\nfunc total(xs []int) (n int) {\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n",
	"lib/other.go":    "package lib\n\ntype Unused struct{}\n",
	"lib/sum_test.go": "package lib\n",
	"lib/marked.go":   "package lib\n\n// EVOLVE-BLOCK-START\nvar limit = 3\n// EVOLVE-BLOCK-END\n\nvar fixed = 1\n",
	"Makefile":        "all:\n",
}

// counting scores a program by how many files it changes.
var counting = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
	return eval.Result{Valid: true, Score: float64(strings.Count(program, "\n-- "))}, nil
})

func newTask(t *testing.T, more ...func(*Config)) *Task {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("lib", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Name: "sums", Base: dir, Open: []string{"lib/**.go", "link/**", "new/*"},
		Frozen: []string{"**/*_test.go"}, Evaluator: counting, About: "Add faster."}
	for _, m := range more {
		m(&cfg)
	}
	tt, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

const blocks = "### lib/sum.go\n<<<<<<< SEARCH\n\treturn total(xs)\n=======\n\treturn 2 * total(xs)\n>>>>>>> REPLACE\n"

// Whatever form a reply has, equal trees are equal programs, and a program is what differs.
func TestReplies(t *testing.T) {
	tt := newTask(t)
	whole := strings.Replace(files["lib/sum.go"], "total(xs)", "2 * total(xs)", 1)
	want, err := tt.Parse(blocks)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(want, "\n-- ") != 1 || !strings.Contains(want, "-- lib/sum.go --\npackage lib\n") ||
		!strings.HasPrefix(want, "base "+tt.Base()+"\n") {
		t.Errorf("the program is %q", want)
	}
	for reason, reply := range map[string]string{
		"a whole file":           "### lib/sum.go\n\n```go\n" + whole + "```\n",
		"words and a plain path": "I double it.\n\nlib/sum.go:\n```go\n" + whole + "```\nThat is all.",
		"bold":                   "**lib/sum.go**\n```\n" + whole + "```\n",
		"a path in the fence":    "```go lib/sum.go\n" + whole + "```\n",
		"blocks in a fence":      "`lib/sum.go`\n```diff\n" + strings.SplitN(blocks, "\n", 2)[1] + "```\n",
		"another spelling": strings.NewReplacer("<<<<<<< SEARCH", "<<<<<< search:", "=======", "======",
			">>>>>>> REPLACE", ">>>>>> Replace").Replace(blocks),
		"indentation lost":          strings.ReplaceAll(blocks, "\t", ""),
		"a unified diff":            "### lib/sum.go\n```diff\n@@ -1 +1 @@\n-\treturn total(xs)\n+\treturn 2 * total(xs)\n```\n",
		"thinking":                  "<think>### lib/other.go\nDELETE\n</think>\n" + blocks,
		"CRLF":                      strings.ReplaceAll(blocks, "\n", "\r\n"),
		"a fence beside":            blocks + "\nIt was:\n\n```go\nreturn total(xs)\n```\n",
		"another file as it was":    blocks + "### lib/total.go\n```go\n" + files["lib/total.go"] + "```\n",
		"a new file that goes":      blocks + "### new/a\n```\nx\n```\n### new/a\nDELETE\n",
		"a deletion that is undone": "### lib/sum.go\nDELETE\n### lib/sum.go\n```go\n" + whole + "```\n",
		"the program itself":        task.Fence(strings.TrimSuffix(want, "\n"), ""),
		"a path with a remark":      strings.Replace(blocks, "lib/sum.go", "lib/sum.go (updated)", 1),
		"a numbered heading":        strings.Replace(blocks, "lib/sum.go", "1. lib/sum.go", 1),
		"a link":                    strings.Replace(blocks, "lib/sum.go", "[lib/sum.go](lib/sum.go)", 1),
		"a path after a colon":      "```go:lib/sum.go\n" + whole + "```\n",
		"a list of files before":    "I change:\n- lib/sum.go\n- lib/total.go\n\nUsage:\n```sh\ngo test\n```\n" + blocks,
	} {
		if got, err := tt.Parse(reply); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", reason, got, err, want)
		}
	}
	for _, form := range []string{"**DELETE**\n", "```\nDELETE\n```\n"} {
		if got, err := tt.Parse("### lib/other.go\n" + form); err != nil ||
			!strings.HasSuffix(got, "\ndelete lib/other.go\n") {
			t.Errorf("%q is read as %q, %v", form, got, err)
		}
	}
	deleted, err := tt.Parse("### lib/other.go\nDELETE\n\n### new/a.txt\n```\nx\n```\n")
	if err != nil || !strings.Contains(deleted, "\ndelete lib/other.go\n-- new/a.txt --\nx\n") {
		t.Errorf("a deletion and a new file are %q, %v", deleted, err)
	}
	back, _, err := tt.ParseReply(task.Reply{Parent: deleted,
		Text: "### lib/other.go\n```go\n" + files["lib/other.go"] + "```\n### new/a.txt\nDELETE\n"})
	if err != nil || back != tt.Initial() {
		t.Errorf("and back it is %q, %v", back, err)
	}
}

// What may not change costs one child, with the reason.
func TestHostileReplies(t *testing.T) {
	tt := newTask(t)
	write := func(path string) string { return "### " + path + "\n```\nx\n```\n" }
	for _, c := range []struct{ reason, reply, want string }{
		{"out of the base", write("../lib/a.go"), "within the folder"},
		{"out by a detour", write("lib/../../a.go"), "within the folder"},
		{"from the root", write("/lib/a.go"), "within the folder"},
		{"frozen", write("lib/sum_test.go"), "frozen"},
		{"a new test", write("lib/deep/x_test.go"), "frozen"},
		{"not open", write("Makefile"), "not open"},
		{"the module", write("go.mod"), "not open"},
		{"a module in another folder", write("cmd/main.go"), "not open"},
		{"behind a link", write("link/sum.go"), "no folder"},
		{"the twin of a file", write("lib/SUM.go"), "where case does not count"},
		{"in the twin of a folder", write("LIB/sum.go"), "where case does not count"},
		{"git", write("lib/.git/x.go"), "git"},
		{"git, in capitals", write("lib/.GIT/x.go"), "git"},
		{"git, as Windows shortens it", write("new/git~1/config"), "folder of git"},
		{"a device", write("new/AUX.go"), "device"},
		{"backslashes", write(`new\..\..\a.go`), "not every system"},
		{"a deletion by a detour", "### lib/../go.mod\nDELETE\n", "within the folder"},
		{"a deletion behind a link", "### link/sum.go\nDELETE\n", "no"},
		{"a deletion of a test", "### lib/sum_test.go\nDELETE\n", "frozen"},
		{"a deletion of what is not there", "### lib/none.go\nDELETE\n", "not there"},
		{"a deletion of markers", "### lib/marked.go\nDELETE\n", "EVOLVE-BLOCK"},
		{"below a file", write("lib/sum.go/x.go"), "no folder"},
		{"two that hinder each other", write("new/a") + write("new/a.go/b"), "not open"},
		{"an escape in the path", write("new/a\x1b[2J.go"), ""},
		{"a separator in a file", "### new/a\n```\n-- go.mod --\nmodule evil\n```\n", "separates files"},
		{"a diff for a whole file", "### lib/sum.go\n```diff\na\n```\n", "tagged diff"},
		{"a block that is not begun", blocks + strings.Replace(blocks, "<<<<<<<", "<<<<", 1), "outside any block"},
		{"a block under a heading that names no file", blocks + strings.Replace(blocks, "lib/sum.go", "the other file", 1),
			"under no path"},
		{"a name that no disk takes", write("new/" + strings.Repeat("a", 300)), "255"},
		{"NUL", "### new/a\n```\na\x00b\n```\n", "NUL"},
		{"a file without end", "### new/a.txt\n```\nx\n", "not closed"},
		{"a block without end", "### lib/sum.go\n<<<<<<< SEARCH\nx\n", "not closed"},
		{"a block under no path", strings.SplitN(blocks, "\n", 2)[1], "under no path"},
		{"a block that matches nothing", strings.Replace(blocks, "total", "tutal", 1), "lib/sum.go"},
		{"a block for a file that is not there", strings.Replace(blocks, "sum.go", "none.go", 1), "not there"},
		{"no change", "### lib/sum.go\n```go\n" + files["lib/sum.go"] + "```\n", task.ErrUnchanged.Error()},
		{"words alone", "I would not change anything.", "no line with a path"},
		{"nothing", "", "no line with a path"},
		{"a patch of another base", "```\nbase 0123456789abcdef\n-- go.mod --\nx\n```\n", "no line with a path"},
		{"a patch beside the rules", "```\nbase " + tt.Base() + "\n-- go.mod --\nx\n```\n", "not open"},
		{"many files", manyFiles(65), "changes 65 files"},
		{"very many files", manyFiles(600), "more than 512"},
		{"a huge file", "### new/a\n```\n" + strings.Repeat("x\n", 1<<19) + "```\n", "bytes"},
	} {
		got, err := tt.Parse(c.reply)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %q, %v: want an error with %q", c.reason, got[:min(len(got), 200)], err, c.want)
		} else if strings.ContainsAny(err.Error(), "\x00\x1b") {
			t.Errorf("%s: the error cannot be printed: %q", c.reason, err)
		}
	}
	program := "base " + tt.Base() + "\n-- lib/sum_test.go --\npackage lib\n"
	if r, err := tt.Evaluate(t.Context(), program); err != nil || r.Valid || !strings.Contains(r.Reason, "frozen") {
		t.Errorf("a program that no reply gave is evaluated as %+v, %v", r, err)
	}
}

func manyFiles(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "### new/f%d\n```\nx\n```\n", i)
	}
	return b.String()
}

// Between EVOLVE-BLOCK markers alone a file changes.
// Replies as models make them that have lost their way are read in a time that grows with their length alone, and not
// with its square, by which one of these would hold up a search for an hour.
func TestEndlessReplies(t *testing.T) {
	tk := newTask(t)
	for what, line := range map[string]string{"blank lines": "\n", "blank lines of another system": "\r\n",
		"fences that are indented too far to be any": "    ```\n", "fences": "```\n", "paths": "### lib/sum.go\n\n\n"} {
		if p, err := tk.Parse(strings.Repeat(line, 1<<16)); err == nil {
			t.Errorf("%s are the program %.100q", what, p)
		}
	}
}

func TestMarkedFiles(t *testing.T) {
	tt := newTask(t)
	text := strings.NewReplacer("limit = 3", "limit = 9", "fixed = 1", "fixed = 2").Replace(files["lib/marked.go"])
	program, err := tt.Parse("### lib/marked.go\n```go\n" + text + "```\n")
	if err != nil || !strings.Contains(program, "limit = 9") || !strings.Contains(program, "fixed = 1") {
		t.Errorf("got %q, %v", program, err)
	}
}

// The prompt shows what was changed and what the evaluation named first, then what shares names with that, and maps
// what does not fit. Equal asks have equal prompts.
func TestPrompt(t *testing.T) {
	tt := newTask(t)
	program, err := tt.Parse(blocks)
	if err != nil {
		t.Fatal(err)
	}
	named := eval.Candidate{Program: program, Result: eval.Result{Reason: "lib/marked.go:4: no limit"}}
	prompt := func(tt *Task, ask task.Request) string { return tt.Prompt(ask)[1].Content }
	all := prompt(tt, task.Request{Parents: []eval.Candidate{named}})
	if all != prompt(newTaskIn(t, tt.cfg), task.Request{Parents: []eval.Candidate{named}}) {
		t.Error("equal asks have different prompts")
	}
	var at []int
	for _, name := range []string{"\nlib/sum.go:\n", "\nlib/marked.go:\n", "\nlib/total.go:\n", "\nlib/other.go:\n",
		"### path/of"} {
		at = append(at, strings.Index(all, name))
	}
	if at[0] < 0 || !slices.IsSorted(at) || !strings.Contains(all, "return 2 * total(xs)") ||
		strings.Contains(all, "sum_test") {
		t.Errorf("the files stand at %v in:\n%s", at, all)
	}
	small := newTask(t, func(c *Config) { c.Tokens = 70 })
	shown := prompt(small, task.Request{})
	if !strings.Contains(shown, "Files that are not shown") || strings.Count(shown, "```go") != 2 || len(shown) > 2000 {
		t.Errorf("in little room the prompt is:\n%s", shown)
	}
	part := prompt(small, task.Request{Part: "lib/total.go"})
	if !strings.Contains(part, "\nlib/total.go:\n\n```go\n") || !strings.Contains(part, `change is "lib/total.go"`) {
		t.Errorf("where a part is asked for the prompt is:\n%s", part)
	}
	two := prompt(tt, task.Request{Parents: []eval.Candidate{named,
		{Program: tt.Initial(), Result: eval.Result{Valid: true}}}})
	if strings.Count(two, "\nlib/total.go:\n") != 1 {
		t.Errorf("the second parent is shown whole:\n%s", two)
	}
}

func newTaskIn(t *testing.T, cfg Config) *Task {
	t.Helper()
	tt, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

// A patch of the base is what patch takes.
func TestDiff(t *testing.T) {
	tt := newTask(t, func(c *Config) {
		if err := os.WriteFile(filepath.Join(c.Base, "lib", "other.go"), []byte("package lib"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	program, err := tt.Parse(blocks +
		"### lib/total.go\nDELETE\n### new/a\n```\nx\n```\n### new/empty.txt\n```\n```\n### lib/other.go\n```\npackage lib\n\nvar n = 1\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	text, err := tt.Diff(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--- a/lib/sum.go\n+++ b/lib/sum.go\n", "-\treturn total(xs)\n+\treturn 2 * total(xs)\n",
		"--- a/lib/total.go\n+++ /dev/null\n", "--- /dev/null\n+++ b/new/a\n", "\\ No newline at end of file"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		return // a bare machine
	}
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir, cmd.Stdin = tt.cfg.Base, strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v: %s\n%s", err, out, text)
	}
	files, deleted, err := tt.Changes(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(tt.cfg.Base, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	for _, name := range deleted {
		if _, err := os.Stat(filepath.Join(tt.cfg.Base, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// Files are parts, which a search changes one at a time.
func TestParts(t *testing.T) {
	tt := newTask(t)
	names := tt.PartNames(tt.Initial())
	if want := []string{"lib/marked.go", "lib/other.go", "lib/sum.go", "lib/total.go"}; !slices.Equal(names, want) {
		t.Errorf("the parts are %q, want %q", names, want)
	}
	program, _, err := tt.ParseReply(task.Reply{Text: "```go\npackage lib\n```", Parent: tt.Initial(), Part: "lib/other.go"})
	if err != nil || !strings.HasSuffix(program, "-- lib/other.go --\npackage lib\n") {
		t.Errorf("got %q, %v", program, err)
	}
	if _, _, err := tt.ParseReply(task.Reply{Text: "```\nmodule evil\n```", Parent: tt.Initial(), Part: "go.mod"}); err == nil {
		t.Error("a part that is not open is changed")
	}
}

// The hash in the name tells bases apart, by names, contents, links and the right to execute.
func TestBaseHash(t *testing.T) {
	tt := newTask(t)
	seen := map[string]string{tt.Base(): "as it was"}
	if !strings.HasPrefix(tt.Name(), "sums-"+tt.Base()[:12]) {
		t.Errorf("the name is %q", tt.Name())
	}
	dir := tt.cfg.Base
	for _, step := range []struct {
		reason string
		do     func() error
	}{
		{"another text", func() error { return os.WriteFile(filepath.Join(dir, "Makefile"), []byte("x"), 0o644) }},
		{"an executable", func() error { return os.Chmod(filepath.Join(dir, "Makefile"), 0o755) }},
		{"another name", func() error { return os.Rename(filepath.Join(dir, "Makefile"), filepath.Join(dir, "makefile")) }},
		{"another link", func() error {
			return errors.Join(os.Remove(filepath.Join(dir, "link")), os.Symlink(".", filepath.Join(dir, "link")))
		}},
		{"an empty folder", func() error { return os.Mkdir(filepath.Join(dir, "empty"), 0o755) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		hash := newTaskIn(t, tt.cfg).Base()
		if of, ok := seen[hash]; ok {
			t.Errorf("%s has the hash of the base %s", step.reason, of)
		}
		seen[hash] = step.reason
	}
	before := newTaskIn(t, tt.cfg).Base()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "sub", ".git"), 0o755),
		os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "sub", ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if newTaskIn(t, tt.cfg).Base() != before {
		t.Error("what git keeps counts")
	}
}

func TestBadConfigs(t *testing.T) {
	good := newTask(t).cfg
	for reason, spoil := range map[string]func(*Config){
		"no base":                         func(c *Config) { c.Base = "" },
		"a base that is none":             func(c *Config) { c.Base += "/none" },
		"nothing open":                    func(c *Config) { c.Open = nil },
		"nothing that is open":            func(c *Config) { c.Open = []string{"none/*"} },
		"all frozen":                      func(c *Config) { c.Frozen = []string{"**"} },
		"a pattern with ./":               func(c *Config) { c.Open = []string{"./lib/*"} },
		"a blank in a pattern":            func(c *Config) { c.Frozen = []string{" lib/sum.go"} },
		"a folder as frozen":              func(c *Config) { c.Frozen = []string{"lib"} },
		"a frozen file that is not there": func(c *Config) { c.Frozen = []string{"none.go"} },
		"a pattern from /":                func(c *Config) { c.Open = []string{"/lib/*"} },
		"no evaluator":                    func(c *Config) { c.Evaluator = nil },
		"a pattern that is not UTF-8":     func(c *Config) { c.Frozen = []string{"a\xff*"} },
		"less than no tokens":             func(c *Config) { c.Tokens = -1 },
		"a name with a slash":             func(c *Config) { c.Name = "a/b" },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil || !strings.HasPrefix(err.Error(), "tree: ") {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/*.go", "a/b.go", true}, {"a/*.go", "a/b/c.go", false}, {"a/**.go", "a/b/c.go", true}, {"a/**.go", "a/c.go", true},
		{"**/x_test.go", "x_test.go", true}, {"**/x_test.go", "a/b/x_test.go", true}, {"a?.go", "ab.go", true},
		{"a?.go", "a/.go", false},
		{"a.go", "abgo", false}, {"**", "a/b", true}, {"a[b].go", "a[b].go", true}, {"*", "a\nb", true},
	} {
		all, err := patterns("Open", []string{c.pattern})
		if err != nil || patch.AnyMatches(all, c.path) != c.want {
			t.Errorf("%q matches %q: %v, %v", c.pattern, c.path, !c.want, err)
		}
	}
}

// A prompt of tasks is asked in messages of which the first is what the tree is.
func TestAbout(t *testing.T) {
	if ext := task.Ext(newTask(t)); ext != ".txtar" {
		t.Errorf("files with a program end in %q", ext)
	}
	m := newTask(t).Prompt(task.Request{})
	if len(m) != 2 || m[0].Role != llm.System || m[0].Content != "Add faster." {
		t.Errorf("got %+v", m)
	}
}

func FuzzReply(f *testing.F) {
	for _, reply := range []string{blocks, "### new/a\n```\nx\n```\n", "lib/sum.go\nDELETE\n",
		"```go lib/sum.go\nx\n```"} {
		f.Add(reply)
	}
	tt, err := New(Config{Base: "testdata/base", Open: []string{"**"}, Evaluator: counting})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		program, err := tt.Parse(reply)
		if err != nil {
			return
		}
		if r, err := tt.Evaluate(t.Context(), program); err != nil || !r.Valid {
			t.Errorf("%q is read as %q, which is %+v, %v", reply, program, r, err)
		}
		if again, err := tt.Parse(task.Fence(strings.TrimSuffix(program, "\n"), "")); err != nil || again != program {
			t.Errorf("%q comes back as %q, %v", program, again, err)
		}
	})
}

// A whole program as a reply changes files with markers between them alone, as any other reply does.
func TestWholeProgramKeepsMarkers(t *testing.T) {
	tt := newTask(t)
	marked := files["lib/marked.go"]
	inside := strings.Replace(marked, "limit = 3", "limit = 4", 1)
	reply := func(text string) string {
		return task.Fence(patch.Patch{Base: tt.Base(), Files: map[string]string{"lib/marked.go": text}}.String(), "")
	}
	got, err := tt.Parse(reply(strings.ReplaceAll(inside, "fixed = 1", "fixed = 2")))
	if want, err2 := tt.Parse(reply(inside)); err != nil || err2 != nil || got != want || strings.Contains(got, "fixed = 2") {
		t.Errorf("%s, %v; want %s, %v", got, err, want, err2)
	}
}

// What something else made of a program is held to the rules of replies, file by file.
func TestCanonical(t *testing.T) {
	tt := newTask(t)
	parent, err := tt.WithFile(tt.Initial(), "lib/total.go", "package lib\n\nfunc total(xs []int) int { return 0 }\n")
	if err != nil {
		t.Fatal(err)
	}
	whole := func(changes map[string]string, deleted ...string) string {
		return patch.Patch{Base: tt.Base(), Files: changes, Deleted: deleted}.String()
	}
	marked := files["lib/marked.go"]
	for _, c := range []struct {
		program, want, err string
	}{
		{whole(map[string]string{"lib/sum.go": "package lib\n"}), whole(map[string]string{"lib/sum.go": "package lib\n"}),
			""}, // total.go is as it was
		{whole(map[string]string{"lib/total.go": files["lib/total.go"], "new/a": "x\n"}, "lib/sum.go"),
			whole(map[string]string{"new/a": "x\n"}, "lib/sum.go"), ""},
		{whole(map[string]string{"lib/sum_test.go": "package x\n"}), "", "is frozen"},
		{whole(map[string]string{"lib/sum.go": "package lib\n", "NOTES.md": "x\n", "lib/new_test.go": "package lib\n"}),
			whole(map[string]string{"lib/sum.go": "package lib\n"}), ""}, // new ones are left out
		{whole(nil, "lib/sum_test.go"), "", "is frozen"},
		{whole(nil, "lib/marked.go"), "", "EVOLVE-BLOCK markers"},
		{whole(map[string]string{"lib/marked.go": strings.ReplaceAll(strings.Replace(marked, "limit = 3", "limit = 4", 1),
			"fixed = 1", "fixed = 2")}),
			whole(map[string]string{"lib/marked.go": strings.Replace(marked, "limit = 3", "limit = 4", 1)}), ""},
		{parent, "", "the one it was shown"},
		{"base 0000\n", "", "is of the base 0000"},
	} {
		got, _, err := tt.Canonical(parent, c.program)
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" &&
			(err != nil || got != c.want) {
			t.Errorf("%s\nis %s, %v; want %s, %s", c.program, got, err, c.want, c.err)
		}
	}
}
