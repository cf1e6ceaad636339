package tree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/patch"
)

// inGit runs git in dir.
func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		notrun.Say("task/tree", "what reads commits", err, "install git")
		notrun.Skip(t)
	}
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"},
		args...)...)
	cmd.Env = append(plainEnviron(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// The files of a commit are those that it has, whatever the work tree and the index have now, and those of a folder are
// the base that a folder with them would be. The repository stays as it is.
func TestCheckout(t *testing.T) {
	repository := t.TempDir()
	inGit(t, repository, "init", "--quiet")
	write := func(name, text string) {
		path := filepath.Join(repository, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "1\n")
	write("sub/deep/b.go", "2\n")
	write("sub/run.sh", "#!/bin/sh\n")
	write(".gitattributes", "sub/run.sh export-ignore\na.go export-subst\n") // which an archive would heed
	if err := errors.Join(os.Chmod(filepath.Join(repository, "sub", "run.sh"), 0o755),
		os.Symlink("a.go", filepath.Join(repository, "link"))); err != nil {
		t.Fatal(err)
	}
	inGit(t, repository, "add", "--all")
	inGit(t, repository, "commit", "--quiet", "--message", "first")
	want, err := patch.Walk(repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := patch.Walk(filepath.Join(repository, "sub"), nil)
	if err != nil {
		t.Fatal(err)
	}
	write("a.go", "changed\n")
	write("staged", "x\n")
	inGit(t, repository, "add", "staged")
	write("untracked", "x\n")
	before := inGit(t, repository, "status", "--short")
	bare := filepath.Join(t.TempDir(), "bare")
	inGit(t, repository, "clone", "--quiet", "--bare", ".", bare)

	ran := filepath.Join(t.TempDir(), "ran") // by what the repository configures
	write(".git/info/attributes", "* filter=x\n")
	write(".git/hooks/post-index-change", "#!/bin/sh\ntouch "+ran+"\n")
	if err := os.Chmod(filepath.Join(repository, ".git", "hooks", "post-index-change"), 0o755); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"filter.x.smudge": "touch " + ran + "; cat", "core.fsmonitor": "touch " + ran} {
		inGit(t, repository, "config", key, value)
	}
	t.Setenv("GIT_DIR", filepath.Join(repository, "of another")) // as it is in a hook
	for reason, c := range map[string]struct{ from, commit, want string }{
		"a branch":                 {repository, "HEAD", want},
		"a folder of a repository": {filepath.Join(repository, "sub"), "HEAD", inside},
		"a bare repository":        {bare, "HEAD", want},
		"a commit by its own hash": {repository, strings.TrimSpace(inGit(t, repository, "rev-parse", "HEAD")), want},
		"a commit by its shortened": {repository, strings.TrimSpace(inGit(t, repository, "rev-parse", "--short", "HEAD")),
			want},
	} {
		dir := filepath.Join(t.TempDir(), "new", "base")
		if err := Checkout(t.Context(), c.from, c.commit, dir); err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		if got, err := patch.Walk(dir, nil); err != nil || got != c.want {
			t.Errorf("%s: the base is %s, %v; want %s", reason, got, err, c.want)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			t.Errorf("%s: there is a repository in it", reason)
		}
		if err := Checkout(t.Context(), c.from, c.commit, dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("%s: a second time: %v", reason, err)
		}
	}
	for reason, c := range map[string][2]string{
		"a commit that there is not": {repository, "none"}, "an option": {repository, "--help"},
		"no repository": {t.TempDir(), "HEAD"},
		"no commit":     {repository, ""}, "a file": {repository, "HEAD:a.go"},
		"no folder": {filepath.Join(bare, "none"), "HEAD"},
	} {
		if err := Checkout(t.Context(), c[0], c[1], t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "tree: ") {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("what the repository configures was run")
	}
	inGit(t, repository, "config", "--unset", "core.fsmonitor")
	inGit(t, repository, "config", "--unset", "filter.x.smudge")
	if after := inGit(t, repository, "status", "--short"); after != before {
		t.Errorf("the repository is now\n%s\nand was\n%s", after, before)
	}
}
