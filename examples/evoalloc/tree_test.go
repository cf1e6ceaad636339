package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/export"
	"github.com/evoalloc/evoalloc/examples/internal/report"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// A tree of files is improved by commands of a shell: what breaks its test or changes what is frozen has no score, and
// what is best is saved as a patch. The same command goes on with the run and asks for nothing.
func TestTree(t *testing.T) {
	base, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"src/a.txt": "1\n", "src/b.txt": "1\n",
		"check.sh": "! grep -q bad src/*.txt\n"} {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	replies := []string{
		"### src/a.txt\n```\nbad 9\n```\n",
		"### check.sh\n```\ntrue\n```\n### src/a.txt\n```\nbad 9\n```\n",
		"### src/a.txt\n```\n5\n```\n### src/b.txt\n<<<<<<< SEARCH\n1\n=======\n4\n>>>>>>> REPLACE\n",
		"I give up.",
	}
	var asked atomic.Int32
	srv := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string { return replies[int(asked.Add(1)-1)%len(replies)] }})
	defer srv.Close()
	args := []string{"--model", "qwen3-8b", "--api-base", srv.URL, "--T", "1", "--N", "4", "--breadth", "fixed",
		"--parallel-llm", "1", "--output", out,
		"--base", base, "--change", "src/**,*.sh", "--frozen", "*.sh", "--test", "sh check.sh", "--score",
		"cat src/a.txt src/b.txt | paste -sd+ | bc || awk '{ n += $1 } END { print n }' src/*.txt"}
	printed := runtest.Output(t, func() {
		if err := runGreedy(t.Context(), args); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.Contains(printed, "best      9.000000, from 2.000000") || strings.Count(printed, "is frozen") != 1 ||
		!strings.Contains(printed, "Build exited with status 1") {
		t.Errorf("printed:\n%s", printed)
	}
	patches, err := filepath.Glob(filepath.Join(out, "*", "*", "*.patch"))
	if err != nil || len(patches) != 1 {
		t.Fatalf("patches %v, %v", patches, err)
	}
	text, err := os.ReadFile(patches[0])
	if err != nil || !strings.Contains(string(text), "+++ b/src/a.txt\n@@ -1 +1 @@\n-1\n+5\n") {
		t.Errorf("the patch is %s, %v", text, err)
	}
	exportsTrees(t, out, base)
	before := asked.Load()
	again := runtest.Output(t, func() {
		if err := runGreedy(t.Context(), append(args, "--resume")); err != nil {
			t.Fatal(err)
		}
	})
	if n := asked.Load(); n != before || !strings.Contains(again, "best      9.000000") {
		t.Errorf("asked %d times more, and printed:\n%s", n-before, again)
	}
	if err := os.WriteFile(filepath.Join(base, "src", "c.txt"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var usage *cli.UsageError
	if err := runGreedy(t.Context(), append(args, "--resume")); !errors.As(err, &usage) ||
		!strings.Contains(err.Error(), "there is no journal") {
		t.Errorf("a run of another base goes on: %v", err)
	}
}

// exportsTrees exports the run below out with the trees of its candidates, as they are in base.
func exportsTrees(t *testing.T, out, base string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Error("git is not on the PATH")
		}
		t.Log("not exported: git is not on the PATH")
		return
	}
	journals, err := filepath.Glob(filepath.Join(out, "*", "*", "*.journal"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("journals %v, %v", journals, err)
	}
	into := filepath.Join(t.TempDir(), "lineage")
	var printed strings.Builder
	if err := export.Run(t.Context(), []string{"--into", into, "--base", base, journals[0]}, &printed); err != nil ||
		!strings.Contains(printed.String(), "diff base best") {
		t.Errorf("%v: printed\n%s", err, printed.String())
	}
	for name, want := range map[string]string{"src/a.txt": "5\n", "src/b.txt": "4\n",
		"check.sh": "! grep -q bad src/*.txt\n"} {
		if text, err := os.ReadFile(filepath.Join(into, filepath.FromSlash(name))); err != nil || string(text) != want {
			t.Errorf("%s of the best tree is %q, %v; want %q", name, text, err, want)
		}
	}
	if status, err := exec.Command("git", "-C", into, "status", "--short", "--branch").CombinedOutput(); err != nil ||
		string(status) != "## best\n" {
		t.Errorf("git status: %s, %v", status, err)
	}
	var usage *cli.UsageError
	if err := export.Run(t.Context(), []string{"--into", into + "2", "--base", out, journals[0]},
		&printed); !errors.As(err, &usage) || !strings.Contains(err.Error(), "is not the base") {
		t.Errorf("another folder: %v", err)
	}
	for dir, want := range map[string]bool{base: true, into + "4": false} {
		err := report.Run(t.Context(), []string{"-o", filepath.Join(t.TempDir(), "page.html"), "--base", dir, journals[0]})
		if (err == nil) != want {
			t.Errorf("a report with the folder %s: %v", dir, err)
		}
	}
	printed.Reset()
	if err := export.Run(t.Context(), []string{"--into", into + "3", journals[0]}, &printed); err != nil ||
		!strings.Contains(printed.String(), "with --base FOLDER") {
		t.Errorf("without --base: %v: printed\n%s", err, printed.String())
	}
}

// A commit of a repository is a base as a folder is, and its files stay for a report.
func TestTreeOfACommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		notrun.Say("examples/evoalloc", "what reads commits", err, "install git")
		notrun.Skip(t)
	}
	repository, out := t.TempDir(), t.TempDir()
	script := `git init -q && mkdir src && echo 1 > src/a.txt && git add . && git -c user.name=t -c user.email=t@localhost commit -qm first && echo 7 > src/a.txt`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = repository
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	srv := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string { return "### src/a.txt\n```\n5\n```\n" }})
	defer srv.Close()
	args := []string{"--model", "qwen3-8b", "--api-base", srv.URL, "--T", "1", "--N", "1", "--breadth", "fixed",
		"--output", out,
		"--base", repository + "@HEAD", "--change", "src/*", "--score", "cat src/a.txt"}
	for range 2 { // the second one finds the files
		printed := runtest.Output(t, func() {
			if err := runGreedy(t.Context(), append(args, "--anew")); err != nil {
				t.Fatal(err)
			}
		})
		if !strings.Contains(printed, "best      5.000000, from 1.000000") {
			t.Errorf("printed:\n%s", printed)
		}
	}
	kept, err := filepath.Glob(filepath.Join(out, "bases", "*", "*", "src", "a.txt"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the files of the commit are %v, %v", kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := runGreedy(t.Context(), append(args, "--anew")); err == nil ||
		!strings.Contains(err.Error(), "was changed: remove it") {
		t.Errorf("files that were changed: %v", err)
	}
}

// A Go module is built with what this user built and downloaded.
func TestTreeOfGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on the PATH")
	}
	srv := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string {
		return "### decode.go\n<<<<<<< SEARCH\n\treturn n\n=======\n\treturn n + 1\n>>>>>>> REPLACE\n"
	}})
	defer srv.Close()
	printed := runtest.Output(t, func() {
		args := []string{"--model", "qwen3-8b", "--api-base", srv.URL, "--T", "1", "--N", "1", "--breadth", "fixed",
			"--output", t.TempDir(),
			"--base", "../tree/base", "--change", "*.go", "--test", "go vet ./...", "--score",
			"go run . | grep -o '\"back\":1[,}]' | wc -l"}
		if err := runGreedy(t.Context(), args); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.Contains(printed, "best      1.000000, of the initial program") ||
		!strings.Contains(printed, "children  1: 1 valid") {
		t.Errorf("printed:\n%s", printed)
	}
}

func TestBadTreeFlags(t *testing.T) {
	const model = "--model qwen3-8b --api-base http://127.0.0.1:1/v1 "
	for _, c := range []struct{ args, want string }{
		{"--score true", "--score has no effect without --base"},
		{model + "--base .", "need --change"},
		{model + "--base . --change * --score true --task cp", "have no effect with --base"},
		{"--base . --change * --score true", "needs a --model"},
		{model + "--base /none --change * --score true", "/none"},
		{model + "--base . --change none/* --score true", "no text file"},
		{model + "--base .@none --change * --score true", "has no commit"},
		{model + "--base . --change * --score true --about /none", "--about"},
	} {
		err := runGreedy(t.Context(), append(strings.Fields(c.args), "--output", t.TempDir()))
		if usage := (*cli.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a usage error with %q", c.args, err, c.want)
		}
	}
}

// A candidate that ends the process of its tests, or brings what they are run by, is seen through: each test that passes
// in the base has to be seen to pass.
func TestForgedTests(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on the PATH")
	}
	base := t.TempDir()
	for name, text := range map[string]string{"f.py": "def f():\n    return 1\n",
		"test_f.py": "import unittest, f\n\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f.f(), 1)\n"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const wrong = "### f.py\n```\nimport os\nos._exit(0)\n```\n"
	for reply, want := range map[string]string{
		wrong: "not seen to pass: Ran 1 test",
		"### unittest.py\n```\nimport os\nos._exit(0)\n```\n" + wrong:       "unittest.py is frozen",
		"### tests/__init__.py\n```\nimport os\nos._exit(0)\n```\n" + wrong: "tests/__init__.py is frozen",
		"### f.py\n```\ndef f():\n    return 2 - 1\n```\n":                  "children  1: 1 valid",
	} {
		srv := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string { return reply }})
		printed := runtest.Output(t, func() {
			if err := runGreedy(t.Context(), []string{"--model", "qwen3-8b", "--api-base", srv.URL, "--T", "1", "--N", "1",
				"--breadth", "fixed", "--output", t.TempDir(), "--base", base, "--change", "**",
				"--test", "python3 -m unittest", "--score", "echo 5"}); err != nil {
				t.Fatal(err)
			}
		})
		srv.Close()
		if !strings.Contains(printed, want) {
			t.Errorf("%s\nprinted:\n%s\nwant %s", reply, printed, want)
		}
	}
}
