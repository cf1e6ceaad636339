package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/patch"
)

// folder returns a base with all that a folder can hold, and a script that prints the score of the tree in which it is
// run: the sum of the numbers in all files below src.
func folder(t *testing.T) (dir, hash string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{
		"score.sh":  "#!/bin/sh\ncat src/*.txt src/deep/*.txt | awk '{ n += $1 } END { print n }'\n",
		"src/a.txt": "1\n", "src/b.txt": "1\n", "src/deep/c.txt": "1\n", "src/deep/d.txt": "1\n", "src/unended.txt": "1",
		"a \"quoted\"\nname": "x\n", "binary": "\x00\xff", "empty": "", ".git/config": "[core]\n",
		"sub/.git":       "gitdir: elsewhere\n",
		".gitattributes": "*.txt text eol=crlf\n", // which a checkout heeds, and a run does not
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Chmod(filepath.Join(dir, "score.sh"), 0o755), os.Symlink("src", filepath.Join(dir, "link")),
		os.Mkdir(filepath.Join(dir, "none"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	if hash, err = patch.Walk(dir, nil); err != nil {
		t.Fatal(err)
	}
	return dir, hash
}

// grown returns a run of n candidates that change the base: they write, make, delete and restore files, and some have
// two parents. In the middle of the best one's line a file brings a gain of 1000.
func grown(base string, n int) *history.Lineage {
	r := &history.Lineage{Fingerprint: journal.Fingerprint{"task": "tree"}}
	add := func(p patch.Patch, parents ...int) {
		i := len(r.Candidates)
		c := history.Candidate{Arm: 0, Pull: i - 1, Step: i, Parents: parents, Program: p.String(),
			Time:     time.Unix(int64(i), 0),
			Proposal: books.Proposal{ID: i, Valid: true, Score: float64(i)}}
		if i == 0 {
			c.Arm = -1
		}
		r.Candidates = append(r.Candidates, c)
	}
	random := rand.New(rand.NewPCG(1, 2))
	last := patch.Patch{Base: base}
	add(last)
	for i := 1; i < n; i++ {
		p := last.Clone()
		name := []string{"src/a.txt", "src/b.txt", "src/deep/c.txt", "src/deep/e.txt", "tool.sh", "empty",
			"src/unended.txt"}[random.IntN(7)]
		gain := p.Files["src/gain.txt"]
		switch random.IntN(4) {
		case 0:
			delete(p.Files, name)
			p.Deleted = slices.DeleteFunc(p.Deleted, func(d string) bool { return d == name })
		case 1:
			if name == "empty" || name == "src/b.txt" {
				delete(p.Files, name)
				p.Deleted = slices.Compact(slices.Sorted(slices.Values(append(p.Deleted, name))))
				break
			}
			fallthrough
		default:
			p.Files[name] = map[bool]string{true: "#!/bin/sh\n", false: ""}[name == "tool.sh"] + fmt.Sprintln(random.IntN(9))
			p.Deleted = slices.DeleteFunc(p.Deleted, func(d string) bool { return d == name })
		}
		if i == n/3 {
			gain = "1000\n"
		}
		if gain != "" {
			p.Files["src/gain.txt"] = gain
		}
		switch side := random.IntN(i); {
		case i%5 == 0 && side != i-1:
			add(p, i-1, side)
		default:
			add(p, i-1)
		}
		last = p
	}
	return r
}

// trees is a new repository of a run of trees, with a work tree.
func trees(t *testing.T, r *history.Lineage, base string) (dir string) {
	t.Helper()
	begun := time.Now()
	var stream bytes.Buffer
	if err := r.WriteTrees(&stream, base); err != nil {
		t.Fatal(err)
	}
	size := stream.Len()
	dir = t.TempDir()
	must(t, dir, "init", "--quiet")
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte("* -text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := git(t, dir, &stream, "fast-import", "--quiet"); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	took := time.Since(begun)
	if out := must(t, dir, "fsck", "--strict", "--full"); strings.Contains(out, "error") ||
		strings.Contains(out, "warning") || strings.Contains(out, "dangling") {
		t.Errorf("git fsck: %s", out)
	}
	packs, _ := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.pack"))
	for _, pack := range packs {
		if info, err := os.Stat(pack); err == nil {
			t.Logf("%d trees in %v: a stream of %d bytes, a pack of %d", len(r.Candidates), took, size, info.Size())
		}
	}
	must(t, dir, "reset", "--quiet", "--hard", "best")
	return dir
}

// entriesOf returns the files and links below dir.
func entriesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	_, err := patch.Walk(dir, func(e patch.Entry) {
		if e.Kind != patch.Folder {
			all[e.Name] = string(e.Kind) + " " + string(e.Content)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each commit has the tree that its candidate was evaluated as, and git bisect finds what brought a gain by scoring
// trees.
func TestTreesAreCommits(t *testing.T) {
	base, hash := folder(t)
	n := notrun.Length(120, 2000)
	r := grown(hash, n)
	dir := trees(t, r, base)
	name, parents := commits(t, dir)
	if len(name) != n+1 { // with that of the base
		t.Errorf("%d commits, want %d", len(name), n+1)
	}
	if got := strings.TrimSpace(must(t, dir, "log", "-1", "--format=%s", "base")); got != "base "+hash {
		t.Errorf("the commit of the base is %q", got)
	}
	for i := 0; i < n; i += max(1, n/40) {
		c := r.Candidates[i]
		want := t.TempDir()
		p, err := patch.Parse(c.Program)
		if err := errors.Join(err, os.CopyFS(want, os.DirFS(base)), p.Write(want, base), p.Delete(want)); err != nil {
			t.Fatal(err)
		}
		must(t, dir, "checkout", "--quiet", "--force", "candidates/"+c.Name())
		if got, want := entriesOf(t, dir), entriesOf(t, want); !maps.Equal(got, want) {
			t.Errorf("%s has\n%q, want\n%q", c.Name(), got, want)
		}
		if got, want := parents[c.Name()], names(r, c.Parents); i > 0 && got != want {
			t.Errorf("the parents of %s are %q, want %q", c.Name(), got, want)
		}
	}
	must(t, dir, "checkout", "--quiet", "--force", "best")
	if out := must(t, dir, "diff", "--stat", "base", "best"); !strings.Contains(out, "src/gain.txt") ||
		strings.Contains(out, "link") {
		t.Errorf("git diff base best: %s", out)
	}
	must(t, dir, "bisect", "start", "--first-parent", "--term-old=below", "--term-new=gained", "best", "candidates/start")
	cmd := exec.Command("git", "-C", dir, "bisect", "run", "sh", "-c", `test "$(./score.sh)" -lt 1000`)
	cmd.Env = plainly()
	out, err := cmd.CombinedOutput()
	if want := r.Candidates[n/3].Name(); err != nil || !strings.Contains(string(out), "is the first gained commit") ||
		!strings.Contains(string(out), " "+want+" ") {
		t.Errorf("git bisect run: %v\n%s\nwant %s", err, out, want)
	}
}

// A patch of the best tree fits the folder that the run improved.
func TestPatchOfTheBest(t *testing.T) {
	base, hash := folder(t)
	dir := trees(t, grown(hash, 30), base)
	diff := must(t, dir, "diff", "--binary", "base", "best")
	if err := os.RemoveAll(filepath.Join(base, ".git")); err != nil { // the base is a plain folder from here on
		t.Fatal(err)
	}
	if out, err := git(t, base, strings.NewReader(diff), "apply", "-"); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, diff)
	}
	if got, want := entriesOf(t, base), entriesOf(t, dir); !maps.Equal(got, want) {
		t.Errorf("the folder has\n%q, want\n%q", got, want)
	}
}

// Commits do not change as a run goes on, and its programs may be such that no tree can be made of them.
func TestTreesOfAGrowingRun(t *testing.T) {
	base, hash := folder(t)
	r := grown(hash, 40)
	refs := func(r *history.Lineage) string {
		return must(t, trees(t, r, base), "for-each-ref", "refs/candidates", "refs/heads/base")
	}
	whole := refs(r)
	for ref := range strings.Lines(refs(&history.Lineage{Fingerprint: r.Fingerprint, Candidates: r.Candidates[:20]})) {
		if !strings.Contains(whole, ref) {
			t.Errorf("%s has another hash when the run is over", ref)
		}
	}
	for i, program := range map[int]string{10: "no patch", 11: "base other\n", 12: ""} {
		r.Candidates[i].Program = program
	}
	if n := strings.Count(refs(r), "\n"); n != 38 {
		t.Errorf("%d refs, want one less for each program that is no change of the base", n)
	}
}

func TestWriteTreesRefuses(t *testing.T) {
	base, hash := folder(t)
	r := grown(hash, 3)
	if got := r.Base(); got != hash {
		t.Errorf("the base is %q, want %q", got, hash)
	}
	if got := hostile().Base(); got != "" {
		t.Errorf("programs that are no changes have the base %q", got)
	}
	if err := r.WriteTrees(full{}, base); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
	if err := r.WriteTrees(io.Discard, filepath.Join(base, "missing")); !errors.Is(err, os.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "history: ") {
		t.Errorf("no folder: %v", err)
	}
	if err := hostile().WriteTrees(io.Discard, base); !errors.Is(err, history.ErrBase) {
		t.Errorf("single files: %v", err)
	}
	if err := os.WriteFile(filepath.Join(base, "src", "a.txt"), []byte("2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTrees(io.Discard, base); !errors.Is(err, history.ErrBase) || !strings.Contains(err.Error(), hash) {
		t.Errorf("a folder that was changed: %v", err)
	}
}
