// Package killtest has tests kill runs and go on with them. A test cuts the journal of a run that ended ([Every],
// [About]), or starts itself as a process that makes a run and kills that ([Main], [Undisturbed], [Killed]).
package killtest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/evoalloc/evoalloc/internal/wal"
)

var times = regexp.MustCompile(`"(gen_time_s|wall_time_seconds|latency_s)": ?[-+.e0-9]+`)

// WithoutTimes returns a result file with all times 0.
func WithoutTimes(result []byte) []byte { return times.ReplaceAll(result, []byte(`"$1": 0`)) }

// Comparable returns a result file without times and without the cost of lost calls: what a kill must not change.
func Comparable(t testing.TB, result []byte) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(WithoutTimes(result), &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "all_lives")
	return fields
}

// Saved returns the file result.json in dir, as [Comparable] does.
func Saved(t testing.TB, dir string) map[string]any {
	t.Helper()
	result, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	return Comparable(t, result)
}

// Lost returns the number of calls in the journal at path that began and did not end. It returns 0 without a journal.
func Lost(t testing.TB, path string) (lost int) {
	t.Helper()
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0
	case err != nil:
		t.Fatal(err)
	}
	defer f.Close()
	for e, err := range wal.Scan(f) {
		var r struct{ Kind string }
		if err == nil {
			err = json.Unmarshal(e.Object, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case "begin":
			lost++
		case "completion", "failure", "abandoned":
			lost--
		}
	}
	return lost
}
