package patch

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for reason, p := range map[string]Patch{
		"nothing differs": {Base: "ab12", Files: map[string]string{}},
		"files, and one that is deleted": {Base: "ab12", Deleted: []string{"old.go", "a/b.go"},
			Files: map[string]string{"z.go": "package z\n", "a/c.go": "", "a/a.go": "// -- not a file\n"}},
	} {
		text := p.String()
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		if got.String() != text || !maps.Equal(got.Files, p.Files) || got.Base != p.Base ||
			len(got.Deleted) != len(p.Deleted) {
			t.Errorf("%s: %+v came back as %+v", reason, p, got)
		}
	}
}

// What cannot be written, or would be another file elsewhere, is refused.
func TestParseRefuses(t *testing.T) {
	file := func(name string) string { return "base ab\n-- " + name + " --\nx\n" }
	for reason, text := range map[string]string{
		"no base":                      "-- a --\nx\n",
		"empty":                        "",
		"a line that is no deletion":   "base ab\nremove a\n-- a --\nx\n",
		"out of the folder":            file("../a"),
		"from the root":                file("/etc/passwd"),
		"the folder itself":            file("."),
		"a step that leads nowhere":    file("a/../b"),
		"git's folder":                 file("a/.GIT/config"),
		"git, as Windows shortens it":  file("a/GIT~1/config"),
		"a drive":                      file("c:a"),
		"a backslash":                  file(`a\b`),
		"a control character":          file("a\x1b[2J"),
		"a character that is not seen": file("a\u200bb"),
		"an end that Windows drops":    file("a./b"),
		"a space at an end":            "base ab\ndelete a /b\n",
		"a deletion out of the folder": "base ab\ndelete ../a\n",
		"a name of 300 letters":        file("a/" + strings.Repeat("b", 300) + ".go"),
		"a folder of 300 letters":      file(strings.Repeat("b", 300) + "/a"),
		"a device":                     file("a/AUX.go"),
		"names that fold to one":       "base ab\n-- A.go --\nx\n-- a.go --\nx\n",
		"a deletion of its twin":       "base ab\ndelete A.go\n-- a.go --\nx\n",
		"twice":                        "base ab\n-- a --\nx\n-- a --\ny\n",
		"a file in a file":             "base ab\n-- a --\nx\n-- a/b --\ny\n",
		"NUL":                          "base ab\n-- a --\nx\x00\n",
		"no UTF-8":                     "base ab\n-- a --\n\xff\n",
		"too deep":                     file(strings.Repeat("a/", MostDeep) + "b"),
		"too long":                     file(strings.Repeat("a", MostName+1)),
		"too many":                     "base ab\n" + strings.Repeat("-- a --\nx\n", MostFiles+1),
		"too many deletions":           "base ab\n" + strings.Repeat("delete a\n", MostFiles+1),
	} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%s: %q is taken for %+v", reason, text[:min(len(text), 80)], p)
		} else if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 600 {
			t.Errorf("%s: the error is not one printable line: %q", reason, err)
		}
	}
	for reason, text := range map[string]string{"a separator": "a\n-- b --\n", "no end": "a", "NUL": "\x00\n",
		"no UTF-8": "\xff\n"} {
		if CheckText(text) == nil {
			t.Errorf("%s: %q is taken for a file", reason, text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("base ab\ndelete a\n-- b/c --\nx\n")
	f.Add("base ab\n-- b --\n-- c--\n-- --\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(p.String()); err != nil || again.String() != p.String() {
			t.Errorf("%q is read as %+v, which is written as %q: %v", text, p, p.String(), err)
		}
	})
}

// Files are written below the folder, with the modes of the base, and nothing is written or deleted behind a link.
func TestWrite(t *testing.T) {
	base, dir, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "a.txt": 0o644} {
		if err := os.WriteFile(filepath.Join(base, name), []byte("x\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "kept"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Patch{Files: map[string]string{"run.sh": "#!/bin/sh\n", "a.txt": "y\n", "d/e/new": "n\n", "tool": "#!/bin/sh\n"},
		Deleted: []string{"gone", "link/kept"}}
	if err := p.Write(dir, base); err != nil {
		t.Fatal(err)
	}
	for name, executable := range map[string]bool{"run.sh": true, "a.txt": false, "d/e/new": false, "tool": true} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode()&0o100 != 0 != executable {
			t.Errorf("%s: %v, %v: want executable %v", name, info, err, executable)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(dir); err != nil {
		t.Error(err)
	}
	if err := (Patch{Files: map[string]string{"link/kept": "y\n"}}).Write(dir, base); err == nil {
		t.Error("a file is written behind a link")
	}
	if text, err := os.ReadFile(filepath.Join(outside, "kept")); err != nil || string(text) != "x\n" {
		t.Errorf("the file behind the link is %q, %v", text, err)
	}
	if err := (Patch{Files: map[string]string{"a.txt/b": "y\n"}}).Write(dir, base); err == nil {
		t.Error("a file is written below a file")
	}
}

// A base that is a link is the folder that it leads to.
func TestWalkOfALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	want, err1 := Walk(dir, nil)
	got, err2 := Walk(link, nil)
	if err1 != nil || err2 != nil || got != want {
		t.Errorf("%s, %v by the link, %s, %v without", got, err2, want, err1)
	}
}
