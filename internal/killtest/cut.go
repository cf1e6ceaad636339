package killtest

import (
	"bytes"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// A Cut is a journal as a kill may leave it: the first records of a whole one.
type Cut struct {
	Path    string // a file of its own
	Kept    []byte // its content
	Records int
	Of      int // records of the whole journal
	next    []byte
}

// Last returns the kind of the last record that was kept.
func (c Cut) Last() string {
	last := c.Kept[bytes.LastIndexByte(bytes.TrimSuffix(c.Kept, []byte("\n")), '\n')+1:]
	var r struct{ Kind string }
	if json.Unmarshal(last, &r) != nil {
		return ""
	}
	return r.Kind
}

// Tear adds the first half of the record that followed, as a kill leaves it that meets a write.
func (c Cut) Tear(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(c.Path, slices.Concat(c.Kept, c.next[:len(c.next)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Count returns how many records of a kind were kept, such as "completion".
func (c Cut) Count(kind string) int {
	return bytes.Count(c.Kept, []byte(`"kind":"`+kind+`"`))
}

// Every yields journals that kills may leave of the one at path: its first records, as many as first, and step more
// each time, up to all. Unless tests run at full length, it yields three of them: the shortest, the longest, and one
// halfway.
func Every(t testing.TB, path string, first, step int) iter.Seq[Cut] {
	t.Helper()
	lines := records(t, path)
	var lengths []int
	for n := first; n <= len(lines); n += step {
		lengths = append(lengths, n)
	}
	if !notrun.Soak && len(lengths) > 3 {
		lengths = []int{lengths[0], lengths[len(lengths)/2], lengths[len(lengths)-1]}
	}
	return func(yield func(Cut) bool) {
		for _, n := range lengths {
			cut := Cut{filepath.Join(t.TempDir(), "run.journal"), bytes.Join(lines[:n], nil), n, len(lines), nil}
			if n < len(lines) {
				cut.next = lines[n]
			}
			if err := os.WriteFile(cut.Path, cut.Kept, 0o600); err != nil {
				t.Fatal(err)
			}
			if !yield(cut) {
				return
			}
		}
	}
}

// About is [Every] with a step that gives at most so many cuts.
func About(t testing.TB, path string, first, cuts int) iter.Seq[Cut] {
	t.Helper()
	return Every(t, path, first, 1+len(records(t, path))/cuts)
}

// records returns the records of the journal at path, each with the end of its line.
func records(t testing.TB, path string) [][]byte {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	return lines[:len(lines)-1] // nothing follows the last
}
