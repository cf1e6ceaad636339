package python

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// peeking returns those of the files that it could read something of, by each of its names.
const peeking = `
import os
def run():
    got = []
    for path in FILES:
        for name in (path, "/proc/self/root" + path, "/proc/1/root" + path, "/proc/%d/root%s" % (os.getppid(), path)):
            try:
                with open(name) as f:
                    if f.read(): got.append(name)
            except OSError: pass
    try: os.symlink(FILES[0], "link"); got += [open("link").read()] if open("link").read() else []
    except OSError: pass
    return got
`

// Credentials that a user names cannot be read by candidates, nor by an evaluator that a candidate is part of, be
// it by mounts or by Landlock alone.
func TestHide(t *testing.T) {
	t.Parallel()
	needPython(t)
	dir := t.TempDir()
	seed, held, open := filepath.Join(dir, "worker.nk"), filepath.Join(dir, "etc", "key"), filepath.Join(dir, "beside")
	if err := os.Mkdir(filepath.Dir(held), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{seed, held, open} {
		if err := os.WriteFile(f, []byte("SUAM"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(seed, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	cfg := hostileConfig
	cfg.Workers, cfg.Hide = 1, []string{filepath.Join(dir, "link"), filepath.Dir(held)}
	attack := strings.ReplaceAll(peeking, "FILES", fmt.Sprintf("[%q, %q]", seed, held))
	honest := strings.ReplaceAll(peeking, "FILES", fmt.Sprintf("[%q]", open))
	for _, family := range []string{"nothing", "mounts", "landlock", "namespaces", "seccomp"} {
		ms := families[family]
		for _, v := range []victim{without(t, cfg, ms), evaluatorWithout(t, folder(t, inProcess), cfg, ms)} {
			if out, err := v.run(t.Context(), attack); err != nil || string(out) != "[]" {
				t.Errorf("without %s: read %s, %v", family, out, err)
			}
			if out, err := v.run(t.Context(), honest); err != nil || !strings.Contains(string(out), "/beside") {
				t.Errorf("without %s: what lies beside is not read: %s, %v", family, out, err)
			}
		}
	}
}

// Where nothing can hide a file, that is known before a candidate runs, as are files that are not there and folders
// that candidates run in.
func TestHideErrors(t *testing.T) {
	needPython(t)
	if !sandboxtest.Inside(t) {
		cfg := hostileConfig
		for path, want := range map[string]string{"/surely/not/there": "looking for", "/": "folder for temporary files"} {
			cfg.Hide = []string{path}
			if _, err := NewRunner(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", path, err)
			}
		}
		sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock, sandboxtest.UserNS)
		return
	}
	cfg := hostileConfig
	cfg.Hide = []string{"/etc/hostname"}
	const want = "nothing here keeps candidates from reading /etc/hostname"
	if _, err := NewRunner(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	cfg.Isolation = isolation.None
	r, err := NewRunner(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
