package command

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// based returns a base of some files and a folder, and a Config whose steps look at what a candidate made of it.
func based(t *testing.T) (Config, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "1\n", "sub/b.txt": "2\n", "sub/gone.txt": "3\n",
		"run.sh": "cat a.txt sub/b.txt\n"} {
		writeBase(t, filepath.Join(dir, name), text)
	}
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	cfg := shell
	cfg.Args, cfg.Base = nil, dir
	cfg.Build = []string{"sh", "-c", "sh run.sh > made && echo by the build > sub/b.txt && rm a.txt"}
	cfg.Run = []string{"sh", "-c",
		`cat "$0/made" && test ! -e "$0/a.txt" && ! echo x > "$0/made" && cat "$1/a.txt" "$1/sub/b.txt"`, "{build}",
		"{program}"}
	cfg.Score = []string{"sh", "-c", `test ! -e "$0/sub/gone.txt" && test ! -e "$1/sub/gone.txt" && test ! -e "$1/a.txt" && test "$(cat "$0/a.txt" "$0/sub/b.txt" "$0/new/c.txt")" = "10
2
c" && { ! echo x > "$0/a.txt" || test -n "$COPIED"; } && tr '\n' ' ' | sed 's/^10 2 10 2 $/7/'`, "{program}", "{build}"}
	return cfg, dir
}

func writeBase(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// digestOf returns a hash of all names, modes and texts below dir.
func digestOf(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, path, info.Mode(), info.Size(), info.ModTime())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			fmt.Fprintf(h, "%q\n", text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

var changed = patch.Patch{Base: "test", Deleted: []string{"sub/gone.txt"},
	Files: map[string]string{"a.txt": "10\n", "new/c.txt": "c\n"}}.String()

// The first step finds the base with the program's changes and may change all of it. Later ones find that as it was left,
// and a fresh tree. The base stays as it was, with layers, without another mechanism, and with copies.
func TestBase(t *testing.T) {
	t.Parallel()
	cfg, dir := based(t)
	before := digestOf(t, dir)
	for _, ms := range [][]isolation.Mechanism{nil, {sandbox.Landlock}, {sandbox.Seccomp}, {sandbox.MountNS}} {
		cfg := cfg
		e := without(t, cfg, ms)
		if !e.base.layers {
			cfg.Env = append(cfg.Env, "COPIED=true") // and then the scorer may write into its copy
			e = without(t, cfg, ms)
		}
		if len(ms) == 0 && e.Isolation().Has(sandbox.MountNS) && !e.base.layers {
			t.Error("private mounts are here, and no layers")
		}
		for range 2 {
			r, err := e.Evaluate(t.Context(), changed)
			if err != nil || r.Score != 7 {
				t.Errorf("without %v: got %+v, %v", ms, r, err)
			}
		}
	}
	if digestOf(t, dir) != before {
		t.Error("the base was changed")
	}
}

// What is called .git in the base is there for no step, unless it is asked for. A candidate may make one of its own.
func TestBaseHasNoRepository(t *testing.T) {
	t.Parallel()
	cfg, dir := based(t)
	writeBase(t, filepath.Join(dir, ".git", "objects", "pack"), "all history\n")
	writeBase(t, filepath.Join(dir, "sub", "deep", ".git"), "gitdir: elsewhere\n")
	writeBase(t, filepath.Join(dir, "other", "module", ".git", "HEAD"), "ref\n")
	writeBase(t, filepath.Join(dir, "other", "module", "kept"), "k\n")
	const count = `find "$0" -name .git | wc -l; test -e "$0/other/module/kept" && test ! -e "$0/sub/gone.txt"`
	cfg.Build = []string{"sh", "-c", strings.ReplaceAll(count, "$0", ".") + " && mkdir .git && echo mine > .git/own"}
	cfg.Run = []string{"sh", "-c", count, "{program}"}
	cfg.Score = []string{"sh", "-c", `find "$0" "$1" -name .git | wc -l; test ! -e "$1/.git/objects"`, "{program}",
		"{build}"}
	before := digestOf(t, dir)
	for _, ms := range [][]isolation.Mechanism{nil, {sandbox.MountNS}} {
		for git, want := range map[bool]float64{false: 1, true: 6} {
			cfg := cfg
			if cfg.Git = git; git {
				cfg.Build = []string{"true"}
				cfg.Score = slices.Concat([]string{"sh", "-c", `find "$0" "$1" -name .git | wc -l`}, cfg.Score[3:])
			}
			e := without(t, cfg, ms)
			for range 2 {
				if r, err := e.Evaluate(t.Context(), changed); err != nil || r.Score != want {
					t.Errorf("without %v, Git %v: got %+v, %v; want %v", ms, git, r, err, want)
				}
			}
		}
	}
	if digestOf(t, dir) != before {
		t.Error("the base was changed")
	}
}

// Several candidates share a base and a cache at once, and none sees what another does.
func TestCandidatesShareABase(t *testing.T) {
	t.Parallel()
	cfg, dir := based(t)
	cache := t.TempDir()
	writeBase(t, filepath.Join(cache, "kept"), "k\n")
	cfg.Build, cfg.Score, cfg.Caches = nil, nil, []string{cache}
	cfg.Run = []string{"sh", "-c",
		`test "$(ls "$0")" = kept && { echo own > "$0/kept"; echo mine > "$0/mine"; }; test ! -e sub/mine && echo > sub/mine && cat a.txt`, cache}
	e, err := NewEvaluator(cfg)
	if err != nil {
		t.Fatal(err)
	}
	before := digestOf(t, dir) + digestOf(t, cache)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			p := patch.Patch{Base: "test", Files: map[string]string{"a.txt": fmt.Sprintf("%d\n", i)}}
			if r, err := e.Evaluate(t.Context(), p.String()); err != nil || !r.Valid || r.Score != float64(i) {
				t.Errorf("candidate %d got %+v, %v", i, r, err)
			}
		})
	}
	all.Wait()
	if digestOf(t, dir)+digestOf(t, cache) != before {
		t.Error("the base or the cache was changed")
	}
}

// A program that is not a patch, or does not fit the base, is invalid. It does not end the run.
func TestProgramsThatDoNotFit(t *testing.T) {
	t.Parallel()
	cfg, dir := based(t)
	e, err := NewEvaluator(cfg)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) string {
		return patch.Patch{Base: "test", Files: map[string]string{name: "x\n"}}.String()
	}
	gone := func(name string) string { return patch.Patch{Base: "test", Deleted: []string{name}}.String() }
	before := digestOf(t, dir)
	for reason, program := range map[string]string{
		"no patch":                         "print(1)\n",
		"out of the base":                  file("../x"),
		"behind a link":                    file("link/x"),
		"in the place of a link":           file("link"),
		"in the place of a folder":         file("sub"),
		"below a file":                     file("a.txt/x"),
		"deep below a file":                file("a.txt/x/y"),
		"a deletion behind a link":         gone("link/b.txt"),
		"a deletion of a link":             gone("link"),
		"a deletion of a folder":           gone("sub"),
		"a deletion of what was not there": gone("sub/none"),
		"of git":                           file(".git/config"),
		"a name that no disk takes":        file("new/" + strings.Repeat("a", 300)),
		"a folder that no disk takes":      file(strings.Repeat("a", 300) + "/x"),
	} {
		r, err := e.Evaluate(t.Context(), program)
		if err != nil || r.Valid || !strings.HasPrefix(r.Reason, "the program does not fit its base: ") {
			t.Errorf("%s: got %+v, %v", reason, r, err)
		}
	}
	if digestOf(t, dir) != before {
		t.Error("the base was changed")
	}
	hidden := cfg
	hidden.Hide = []string{filepath.Join(dir, "a.txt")}
	if _, err := NewEvaluator(hidden); err == nil || !strings.Contains(err.Error(), "Config.Hide") {
		t.Errorf("a hidden file in the base: %v", err)
	}
	cfg.Template = dir
	if _, err := NewEvaluator(cfg); err == nil || !strings.Contains(err.Error(), "Config.Template") {
		t.Errorf("a base and a template: %v", err)
	}
}

// Steps that try to reach the base, the layers of others or the fresh tree that is scored do not.
func TestHostileBuilds(t *testing.T) {
	t.Parallel()
	cfg, dir := based(t)
	cfg.Build = []string{"sh", "-c", "sh ./build.sh; true"}
	cfg.Run = []string{"sh", "-c", "true"}
	cfg.Score = []string{"sh", "-c", `test "$(cat "$0/a.txt")" = 1 && test "$(cat "$0/sub/b.txt")" = 2 && echo 5`,
		"{program}"}
	e, err := NewEvaluator(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !e.base.layers {
		t.Skip("no layers here")
	}
	before := digestOf(t, dir)
	// The normal run has one for each way out: files, links, layers, mounts, what stays alive, and what is left behind.
	for reason, script := range notrun.FewOf(map[string]string{
		"writes into the base":             "echo 9 > '" + dir + "/a.txt'; echo 9 > '" + dir + "/new'",
		"writes through a link":            "ln -s '" + dir + "' out; echo 9 > out/a.txt",
		"removes all":                      "rm -rf ./* '" + dir + "' /tmp/evoalloc-*",
		"writes into the layers":           "for f in \"$TMPDIR\"/../../evoalloc-layer-*/upper; do echo 9 > $f/a.txt; rm -rf $f; done",
		"puts a link in the place":         "rm a.txt; ln -s /etc/passwd a.txt; rm -r sub; ln -s / sub",
		"puts a pipe in the place":         "rm a.txt; mkfifo a.txt",
		"takes its rights away":            "chmod 000 . sub a.txt",
		"moves folders":                    "mv sub bus; mkdir sub; echo 9 > sub/b.txt",
		"mounts":                           "mount -t tmpfs none . ; mount --bind / sub; unshare -Urm mount -t tmpfs none .",
		"unmounts":                         "umount . ; umount -l .; umount '" + dir + "'",
		"nests folders":                    "i=0; while [ $i -lt 300 ]; do mkdir d && cd d || break; i=$((i+1)); done",
		"leaves whiteouts and attributes":  "mknod w c 0 0; setfattr -n user.overlay.opaque -v y sub; setfattr -n user.overlay.redirect -v /etc sub",
		"leaves a process that goes on":    "(while :; do echo 9 > a.txt; done) & ",
		"many files":                       "i=0; while [ $i -lt 2000 ]; do : > f$i; i=$((i+1)); done",
		"changes what it was started from": "echo 'echo 9' > build.sh; echo 9 > run.sh",
	}, "writes into the base", "writes into the layers", "puts a link in the place", "takes its rights away", "mounts",
		"leaves whiteouts and attributes", "leaves a process that goes on") {
		p := patch.Patch{Base: "test", Files: map[string]string{"build.sh": script + "\n"}}
		r, err := e.Evaluate(t.Context(), p.String())
		if err != nil || r.Valid && r.Score != 5 {
			t.Errorf("%s: got %+v, %v", reason, r, err)
		}
		if digestOf(t, dir) != before {
			t.Fatalf("%s: the base was changed", reason)
		}
	}
	if r, err := e.Evaluate(t.Context(), patch.Patch{Base: "test",
		Files: map[string]string{"build.sh": "\n"}}.String()); err != nil || r.Score != 5 {
		t.Errorf("a candidate after them got %+v, %v", r, err)
	}
}
