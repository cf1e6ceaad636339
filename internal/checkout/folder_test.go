package checkout

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// checkoutOf returns a base, and a copy of it as the folder work of a scratch folder.
func checkoutOf(t *testing.T) Folder {
	t.Helper()
	base, scratch := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "1\n", "unended": "no end", "sub/b.txt": "2\n", "sub/deep/c.txt": "3\n", "bin": "\x00\x01",
		"other/d.txt": "4\n",
		".git/HEAD":   "ref\n", "large": strings.Repeat("x", patch.MostText+5),
	} {
		put(t, filepath.Join(base, name), text)
	}
	if err := os.Symlink("sub", filepath.Join(base, "link")); err != nil {
		t.Skip(err)
	}
	c := Folder{Base: base, Dir: filepath.Join(scratch, "work")}
	if err := os.CopyFS(c.Dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What was left is the patch of it, and what no patch can hold is told. Each case changes a copy of the base.
func TestFolder(t *testing.T) {
	for reason, c := range map[string]struct {
		leave   func(t *testing.T, dir string)
		ignore  string // the base's .gitignore
		patch   string // without its first line
		omitted string // the start of each, separated by bars
	}{
		"nothing": {leave: func(*testing.T, string) {}},
		"new, changed and deleted files": {leave: func(t *testing.T, dir string) {
			put(t, dir+"/a.txt", "10\n")
			put(t, dir+"/new/e.txt", "no end")
			remove(t, dir+"/sub/b.txt")
		}, patch: "delete sub/b.txt\n-- a.txt --\n10\n-- new/e.txt --\nno end\n"},
		"a line end alone": {leave: func(t *testing.T, dir string) { put(t, dir+"/unended", "no end\n") }},
		"everything deleted": {leave: func(t *testing.T, dir string) {
			for _, name := range []string{"a.txt", "unended", "sub", "bin", "other", ".git", "large", "link"} {
				remove(t, filepath.Join(dir, name))
			}
		}, patch: "delete a.txt\ndelete bin\ndelete large\ndelete other/d.txt\ndelete sub/b.txt\ndelete sub/deep/c.txt\ndelete unended\n",
			omitted: "link is gone, which only plain files can be: the base has a link"},
		"a folder moved": {leave: func(t *testing.T, dir string) {
			if err := os.Rename(dir+"/sub", dir+"/bus"); err != nil {
				t.Fatal(err)
			}
		}, patch: "delete sub/b.txt\ndelete sub/deep/c.txt\n-- bus/b.txt --\n2\n-- bus/deep/c.txt --\n3\n"},
		"a folder replaced by a link": {leave: func(t *testing.T, dir string) {
			remove(t, dir+"/sub")
			link(t, "/etc", dir+"/sub")
		}, patch: "delete sub/b.txt\ndelete sub/deep/c.txt\n", omitted: "sub is a link in the place of a folder"},
		"a file replaced by a link": {leave: func(t *testing.T, dir string) {
			remove(t, dir+"/a.txt")
			link(t, "/etc/passwd", dir+"/a.txt")
		}, patch: "delete a.txt\n", omitted: "a.txt is a link in the place of a file"},
		"a file replaced by a folder": {leave: func(t *testing.T, dir string) {
			remove(t, dir+"/a.txt")
			put(t, dir+"/a.txt/x", "x\n")
		}, patch: "delete a.txt\n", omitted: "a.txt is a folder in the place of a file"},
		"a folder replaced by a file": {leave: func(t *testing.T, dir string) {
			remove(t, dir+"/other")
			put(t, dir+"/other", "x\n")
		}, patch: "delete other/d.txt\n", omitted: "other is a file in the place of a folder"},
		"links": {leave: func(t *testing.T, dir string) {
			remove(t, dir+"/link")
			link(t, "other", dir+"/link")
			link(t, "a.txt", dir+"/new")
			link(t, "/", dir+"/root")
		}, omitted: "link is a link|new is a link|root is a link"},
		"no text": {leave: func(t *testing.T, dir string) {
			put(t, dir+"/bin", "\x00\x02")
			put(t, dir+"/latin", "\xe9\n")
			put(t, dir+"/zero", "x\x00\n")
			put(t, dir+"/parts", "-- a.txt --\n")
			put(t, dir+"/large", strings.Repeat("y", patch.MostText+5))
			put(t, dir+"/long", strings.Repeat("y", patch.MostText)+"\n")
		}, omitted: "bin cannot be part of a patch: the text has a NUL|large has 1048581 bytes|latin cannot|long has 1048577 bytes|parts cannot|zero cannot"},
		"names": {leave: func(t *testing.T, dir string) {
			for _, name := range []string{"new\nline", "\xff", "colon:", "aux.c", "A.txt", "Twin", "twin", "dot."} {
				put(t, filepath.Join(dir, name), "x\n")
			}
			put(t, dir+"/sub/.git/config", "x\n")
			put(t, dir+"/sub/.GIT", "x\n")
		}, patch: "-- A.txt --\nx\n-- Twin --\nx\n",
			omitted: `\xff" cannot|aux.c" cannot|colon:" cannot|dot." cannot|new\nline" cannot|twin and Twin are one file`},
		"names of deleted files": {leave: func(t *testing.T, dir string) {
			remove(t, dir+"/a.txt")
			put(t, dir+"/A.TXT", "x\n")
		}, patch: "delete a.txt\n", omitted: "A.TXT and a.txt are one file"},
		"ignored": {leave: func(t *testing.T, dir string) {
			put(t, dir+"/out/x/y.o", "x\n")
			put(t, dir+"/sub/z.o", "x\n")
			put(t, dir+"/sub/kept", "x\n")
			put(t, dir+"/sub/kept.o", "x\n")
			put(t, dir+"/.aider.chat.history.md", "x\n")
			put(t, dir+"/sub/__pycache__/b.pyc", "x\n")
			put(t, dir+"/other/d.txt", "40\n") // ignored, but of the base
			link(t, "/", dir+"/out/root")
		}, ignore: "# built\n/out/\n*.[op]\nother\n!kept.o\n",
			patch:   "-- other/d.txt --\n40\n-- sub/kept --\nx\n-- sub/kept.o --\nx\n",
			omitted: ".aider.chat.history.md is ignored|out is ignored|sub/__pycache__ is ignored|sub/z.o is ignored"},
		"no rights": {leave: func(t *testing.T, dir string) {
			put(t, dir+"/sub/b.txt", "20\n")
			for _, name := range []string{"/sub/b.txt", "/sub/deep", "/sub", ""} {
				if err := os.Chmod(dir+name, 0); err != nil {
					t.Fatal(err)
				}
			}
		}, patch: "-- sub/b.txt --\n20\n"},
		"deep folders": {leave: func(t *testing.T, dir string) {
			put(t, dir+strings.Repeat("/d", patch.MostDeep-1)+"/kept", "x\n")
			put(t, dir+strings.Repeat("/e", patch.MostDeep+20)+"/lost", "x\n")
		}, patch: "-- " + strings.Repeat("d/", patch.MostDeep-1) + "kept --\nx\n",
			omitted: strings.Repeat("e/", patch.MostDeep-1) + "e is more than 63 folders deep"},
	} {
		t.Run(reason, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("names and modes of Unix")
			}
			checkout := checkoutOf(t)
			if c.ignore != "" {
				put(t, checkout.Base+"/.gitignore", c.ignore)
				put(t, checkout.Dir+"/.gitignore", c.ignore)
			}
			c.leave(t, checkout.Dir)
			p, omitted, err := checkout.Read("ab12")
			if err != nil {
				t.Fatal(err)
			}
			if got := p.String(); got != "base ab12\n"+c.patch {
				t.Errorf("the patch is %.2000q, want %.2000q", got, c.patch)
			}
			if _, err := patch.Parse(p.String()); err != nil {
				t.Error(err)
			}
			want := strings.Split(c.omitted, "|")
			if c.omitted == "" {
				want = nil
			}
			slices.Sort(omitted)
			fits := len(omitted) == len(want)
			for i := 0; fits && i < len(want); i++ {
				fits = strings.HasPrefix(strings.TrimPrefix(omitted[i], `"`), want[i])
			}
			if !fits {
				t.Errorf("left out are %q, want %q", omitted, want)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	put(t, path, "")
	if err := os.Truncate(path, size); err != nil {
		t.Log(err) // the disk may not have such files
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// What is too large is an error, found without reading all of it.
func TestFolderIsBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sparse files and links")
	}
	many := func(n int, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for i := range n {
				put(t, filepath.Join(dir, "many", string(rune('a'+i%26)),
					strings.Repeat("x", 1+i/26%200)+strings.Repeat("y", i/5200)), text)
			}
		}
	}
	for reason, c := range map[string]struct {
		leave func(t *testing.T, dir string)
		want  string
	}{
		"many files": {many(patch.MostFiles+1, "x\n"), "more than 4096 files were changed"},
		"long files": {many(33, strings.Repeat("x", patch.MostText/2)+"\n"), "files of more than 16 MiB were changed"},
		"much to read": {func(t *testing.T, dir string) {
			for i := range 257 {
				sparse(t, filepath.Join(dir, fmt.Sprint("sparse", i)), patch.MostText)
			}
		}, "more than 256 MiB of new and changed files were left"},
		"a link instead": {func(t *testing.T, dir string) { remove(t, dir); link(t, "/", dir) },
			"the folder was replaced by a link"},
		"nothing": {func(t *testing.T, dir string) { remove(t, dir) }, "reading what was left"},
	} {
		checkout := checkoutOf(t)
		c.leave(t, checkout.Dir)
		if _, _, err := checkout.Read("ab12"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", reason, err, c.want)
		}
	}
	checkout := checkoutOf(t)
	sparse(t, filepath.Join(checkout.Dir, "sparse"), 1<<40)
	if err := os.Link(filepath.Join(checkout.Dir, "a.txt"), filepath.Join(checkout.Dir, "again")); err != nil {
		t.Fatal(err)
	}
	for linked, want := range map[bool]string{false: "base ab12\n-- again --\n1\n", true: "base ab12\n"} {
		checkout.Linked = linked
		if p, omitted, err := checkout.Read("ab12"); err != nil || p.String() != want || len(omitted) < 1 {
			t.Errorf("got %q, %q, %v", p, omitted, err)
		}
	}
}
