package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/browsertest"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// treeRun returns a log of a run of trees, with their base's folder or without.
func treeRun(t *testing.T, known bool) *runLog {
	t.Helper()
	dir, records := treeRecords(t)
	l := newLog("1", "trees")
	if known {
		var err error
		if l.shown.bases, err = readBases([]string{dir}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range records {
		l.Add(r)
	}
	return l
}

// treeRecords returns a base, and the records of a run of trees. The first child changes two files, and the second
// another one and takes one change back.
func treeRecords(t *testing.T) (dir string, records []record.Record) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"a.go": "one\ntwo\nthree\n", "sub/b.go": "b\n", "sub/gone": "x",
		"void": ""} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := patch.Walk(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	programs := []patch.Patch{
		{},
		{Files: map[string]string{"a.go": "one\n2\nthree\n", "sub/b.go": "<b>&amp;\n"}},
		{Files: map[string]string{"a.go": "one\n2\n3\n", "it's &lt;x": "</script>\x1b\u202e\n", "void": "v\n"},
			Deleted: []string{"sub/gone"}},
	}
	records = append(records, record.Record{Kind: record.Draw, Pull: ptr(0), Arm: ptr(0)})
	for i, p := range programs {
		p.Base = hash
		key := record.KeyOf(p.String()).String()
		records = append(records, record.Record{Kind: record.Program, Key: key, Text: p.String()})
		if i == 0 {
			records = append(records, record.Record{Kind: record.Start, Arm: ptr(0), Program: key,
				Proposal: books.Proposal{Valid: true}})
			continue
		}
		c := bornAs(i, i-1, i-1)
		c.Program = key
		records = append(records, c)
	}
	return dir, records
}

// changesText returns changes as text.
func changesText(changes []lineChange) string {
	var b strings.Builder
	for _, c := range changes {
		for line := range strings.Lines(c.Text) {
			b.WriteString(c.Op + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Each file of a tree has its own changes, against the step before and against the base, from the base's text where the
// folder is given.
func TestTreesDifferByFile(t *testing.T) {
	l := treeRun(t, true)
	s := l.State(rowCursor{})
	const first = "fa.go\n one\n-two\n+2\n three\nfsub/b.go\n-b\n+<b>&amp;\n"
	const second = "fa.go\n one\n 2\n-three\n+3\nfit's &lt;x: " +
		"new\n+</script>\x1b\u202e\nfsub/b.go\n-<b>&amp;\n+b\nfsub/gone: deleted\n-x\nfvoid\n+v\n"
	const whole = "fa.go\n one\n-two\n-three\n+2\n+3\nfit's &lt;x: new\n+</script>\x1b\u202e\nfsub/gone: " +
		"deleted\n-x\nfvoid\n+v\n"
	if len(s.Line) != 3 || changesText(s.Line[1].Diff) != first || changesText(s.Line[2].Diff) != second {
		t.Fatalf("the line is %+v", s.Line)
	}
	if got := changesText(s.Change); got != whole || !s.Tree {
		t.Errorf("against the base %q, want %q", got, whole)
	}
	if got := changesText(l.Diff(baseKey, s.Line[1].Program)); got != first {
		t.Errorf("the first child against the base: %q, want %q", got, first)
	}
	if got := l.Saved().Change; changesText(got) != whole {
		t.Errorf("a saved page has %v", got)
	}
	if l.Diff(baseKey, "none") != nil {
		t.Error("a program that is not there has changes")
	}
}

// A server is asked for the changes of a candidate against the base, and one without the folder says what it does not
// know.
func TestServedTrees(t *testing.T) {
	dir, records := treeRecords(t)
	path := filepath.Join(t.TempDir(), "run.journal")
	l, err := wal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := []record.Record{{Kind: record.Header, Version: record.Version}, {Kind: record.Incarnation},
		{Kind: record.Run, Fingerprint: journal.Fingerprint{"arms": "1"}}}
	for _, r := range slices.Concat(begin, records) {
		if _, err := l.Append(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, bases := range [][]string{{dir}, nil} {
		s := serving(t, ServerConfig{Bases: bases}, path)
		id := only(t, s)
		st := state(t, s, id, "")
		status, body, _ := get(t, s, "/api/diff?run="+id+"&from=base&to="+st.Children.Program[0])
		var changes []lineChange
		if err := json.Unmarshal(body, &changes); err != nil || status != 200 {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		if got := changesText(changes); !st.Tree || strings.Contains(got, "-two\n") != (bases != nil) ||
			strings.Contains(got, "is not known") != (bases == nil) {
			t.Errorf("with %d bases: a tree %v, with the changes %q", len(bases), st.Tree, got)
		}
	}
	if _, err := NewServer(ServerConfig{Bases: []string{filepath.Join(dir, "none")}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Without the folder a file that is changed for the first time is shown as it is now, and said to be so.
func TestTreesOfAnUnknownBase(t *testing.T) {
	l := treeRun(t, false)
	s := l.State(rowCursor{})
	const note = ": its text in the base is not known here"
	if got, want := changesText(s.Line[1].Diff),
		"fa.go"+note+"\n+one\n+2\n+three\nfsub/b.go"+note+"\n+<b>&amp;\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := changesText(s.Line[2].Diff); !strings.HasPrefix(got, "fa.go\n one\n 2\n-three\n+3\n") {
		t.Errorf("a file that both change: %q", got)
	}
	if _, err := readBases([]string{filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Large trees are cut, and programs of several bases compared as text.
func TestBoundsOfTreeDiffs(t *testing.T) {
	large := strings.Repeat("x\n", 40_000)
	p := patch.Patch{Base: "b", Files: map[string]string{}}
	for i := range 30 {
		p.Files[fmt.Sprint("f", i)] = large
	}
	changes, ok := bases{}.treeDiff("base b\n", p.String())
	if n := len(changesText(changes)); !ok || n > 10*mostDiff || changes[len(changes)-1].Op != "@" {
		t.Errorf("%v: %d bytes of changes", ok, n)
	}
	if _, ok := (bases{}).treeDiff("base b\n", "base c\n"); ok {
		t.Error("trees of two bases are compared by file")
	}
	if _, ok := (bases{}).treeDiff("x\n", "base c\n"); ok {
		t.Error("a text and a tree are compared by file")
	}
}

// The page has the changes of each file under its path, as text.
func TestPageShowsTrees(t *testing.T) {
	l := treeRun(t, true)
	tab := reported(t, pageData{Title: "Trees", Runs: []runState{l.Saved()}})
	tab.Wait("document.querySelector('#champion .line.file')")
	const paths = "[...document.querySelectorAll('#champion .line.file')].map(n => n.textContent).join('|')"
	if got, want := browsertest.Eval[string](tab, paths),
		"a.go|it's &lt;x: new|sub/b.go|sub/gone: deleted|void"; got != want {
		t.Errorf("the files are %q, want %q", got, want)
	}
	browsertest.Eval[bool](tab, "document.querySelector('#champion details').open = true")
	tab.Wait("document.querySelector('#champion details .diff')")
	got := browsertest.Eval[string](tab, "document.querySelector('#champion details .diff').textContent")
	if !strings.Contains(got, "</script>‹U+001B›‹U+202E›") {
		t.Errorf("against the base it shows %q", got)
	}
	unharmed(t, tab)
}
