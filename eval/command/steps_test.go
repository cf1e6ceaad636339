package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// A compiler is a script in place of one: it makes a program that prints what is in the candidate's file.
const compiler = `test -s template.txt || exit 9
echo warned >&2
printf '#!/bin/sh\ncat %s; echo to be kept > kept; echo said >&2\n' "$PWD/text" > a.out
grep -v '^#' "$1" > text || { echo "$1: no text" >&2; exit 1; }
`

func steps(t *testing.T) Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"template.txt": "from the template", "cc.sh": compiler} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg := shell
	cfg.Args, cfg.File, cfg.Template = nil, "candidate.c", dir
	cfg.Build = []string{"sh", filepath.Join(dir, "cc.sh"), "{program}"}
	cfg.Run = []string{"{build}/a.out"}
	cfg.Score = []string{"sh", "-c", `test -z "$(ls -A . "$HOME" | grep -v :)" && test "$(cat "$2/kept")" = "to be kept" &&
		! echo > "$2/kept" && ! echo > "$1/a.out" && ! echo > "$2/mine" && grep -q '^#' "$3" && cat`,
		"sh", "{build}", "{run}", "{program}"}
	return cfg
}

// Each step finds what the ones before it made, by one name and for reading alone. The last prints the score. Without
// any one family of mechanisms, too, what Build makes can be executed.
func TestSteps(t *testing.T) {
	t.Parallel()
	cfg := steps(t)
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) {
		t.Parallel()
		e := without(t, cfg, ms)
		r, err := e.Evaluate(t.Context(), "# a comment\n42\n")
		if err != nil || r.Score != 42 || r.Artifacts["build stderr"] != "warned\n" || r.Artifacts["run stderr"] != "said\n" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// A step that fails is named, and none comes after it.
func TestStepsThatFail(t *testing.T) {
	t.Parallel()
	cfg := steps(t)
	for _, c := range []struct{ program, run, score, reason string }{
		{"# a comment\n", "", "", "^Build exited with status 1: candidate.c: no text$"},
		{"#\n1", "kill -SEGV $$", "", "^Run exited with status 139, as after signal 11"},
		{"#\n1", "sleep 99", "", "^Run ran longer than 1.5s$"},
		{"#\n1", "cat {build}/none", "", "^Run exited with status 1: cat: '?{build}/none'?: No such file"},
		{"#\n1", "head -c 5000000 /dev/zero", "", "^Run printed 5000000 bytes on standard output, more than the 4194304"},
		{"#\n1", "", "echo no answer >&2; exit 3", "^Score exited with status 3: no answer$"},
		{"#\n1", "", ":", "^printed nothing on standard output$"},
	} {
		cfg := cfg
		if c.run != "" {
			cfg.Run = []string{"sh", "-c", c.run}
		}
		if c.run == "sleep 99" {
			cfg.Timeout = 1500e6
		}
		if c.score != "" {
			cfg.Score = []string{"sh", "-c", c.score}
		}
		r, err := without(t, cfg, nil).Evaluate(t.Context(), c.program)
		if err != nil || r.Valid || !matches(c.reason, r.Reason) {
			t.Errorf("got %+v, %v, want invalid with %q", r, err, c.reason)
		}
	}
}

// A command that makes a program and cannot execute it is told how it is done.
func TestCure(t *testing.T) {
	t.Parallel()
	e := without(t, shell, nil)
	script := "printf '#!/bin/sh\necho 1\n' > tool; chmod +x tool; ./tool"
	r, err := e.Evaluate(t.Context(), script)
	if !e.Isolation().Has(sandbox.Seccomp) {
		t.Skip(e.Isolation())
	}
	const cure = "ermission denied (a command cannot make files executable here: " +
		"make tool in Config.Build, and execute it as {build}/tool in Config.Run)"
	if err != nil || r.Valid || !strings.HasSuffix(r.Reason, cure) {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = e.Evaluate(t.Context(), "echo > /etc/of-nobody")
	if err != nil || r.Valid || strings.Contains(r.Reason, "Config.Build") {
		t.Errorf("for another reason: got %+v, %v", r, err)
	}
}

// What a user names cannot be read in any step, by mounts or by Landlock alone.
func TestHide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed, held, beside := filepath.Join(dir, "worker.nk"), filepath.Join(dir, "etc", "key"), filepath.Join(dir, "beside")
	if err := os.Mkdir(filepath.Dir(held), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{seed, held, beside} {
		if err := os.WriteFile(f, []byte("1"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg := shell
	cfg.Hide = []string{seed, filepath.Dir(held)}
	attack := strings.NewReplacer("SEED", seed, "HELD", held).Replace(`ln -s SEED link; cp -r /proc/self/root/SEED copy
for f in SEED HELD link copy /proc/self/root/SEED /proc/1/root/SEED; do
	grep -q 1 "$f" && echo 1e9 && exit
done
echo 2`)
	test := func(t *testing.T, e *Evaluator) {
		if r, err := e.Evaluate(t.Context(), attack); err != nil || r.Score != 2 {
			t.Errorf("the attack got %+v, %v", r, err)
		}
		if r, err := e.Evaluate(t.Context(), "cat "+beside); err != nil || r.Score != 1 {
			t.Errorf("what lies beside: got %+v, %v", r, err)
		}
	}
	if sandboxtest.Inside(t) {
		test(t, without(t, cfg, nil))
		return
	}
	sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock)
	sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.UserNS)
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) { test(t, without(t, cfg, ms)) })
}

// What lies where candidates may write is refused to be hidden: under private mounts a candidate could move its folder for
// the next one to read it there, and Landlock alone hides no part of a folder that may be written to.
func TestHideInWritable(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "sub", "key")
	if err := errors.Join(os.Mkdir(filepath.Dir(key), 0o700), os.WriteFile(key, []byte("5\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	cfg := shell
	cfg.Logger, cfg.Writable = quiet, []string{dir}
	e := without(t, cfg, nil)
	if r, err := e.Evaluate(t.Context(), fmt.Sprintf("mv %s/sub %[1]s/other && cat %[1]s/other/key", dir)); err != nil ||
		r.Score != 5 {
		t.Errorf("it moves what is not hidden: %+v, %v", r, err)
	}
	if err := os.Rename(filepath.Join(dir, "other"), filepath.Dir(key)); err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{key, filepath.Dir(key), dir} {
		cfg.Hide = []string{hidden}
		if _, err := NewEvaluator(cfg); err == nil || !strings.Contains(err.Error(), "Config.Hide has "+hidden) {
			t.Errorf("%s hidden in %s, where candidates write: %v", hidden, dir, err)
		}
	}
}

// A link in the template that has the name of the candidate's file is replaced: written through it, a program would
// replace the file of the host that it leads to.
func TestTemplateLink(t *testing.T) {
	cfg := shell
	cfg.Template = t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.WriteFile(outside, []byte("as it was"), 0o600),
		os.Symlink(outside, filepath.Join(cfg.Template, "program")),
		os.Symlink(outside, filepath.Join(cfg.Template, "other"))); err != nil {
		t.Fatal(err)
	}
	e := without(t, cfg, nil)
	r, err := e.Evaluate(t.Context(), "test -L other && echo 7")
	if text, bad := os.ReadFile(outside); bad != nil || string(text) != "as it was" || err != nil || r.Score != 7 {
		t.Errorf("the file outside is %q, %v, after %+v, %v", text, bad, r, err)
	}
}
