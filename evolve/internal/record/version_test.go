package record_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// A file of another version is refused by its header, whatever kinds of records follow, and not for one of those.
func TestAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	l, err := wal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []any{record.Record{Kind: record.Header, Version: 1}, map[string]any{"kind": "life", "t": 1}} {
		if _, err := l.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = record.Open(path, record.Config{Resume: true})
	if !errors.Is(err, record.ErrVersion) || !strings.Contains(err.Error(), "it is 1, this library's 2") {
		t.Errorf("error %v, want ErrVersion with both versions", err)
	}
}
