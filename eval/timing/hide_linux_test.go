package timing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// Credentials that MachineConfig.Hide names cannot be read by a candidate; what lies beside them can.
func TestHide(t *testing.T) {
	if interpreter == "" {
		notrun.Skip(t)
	}
	dir := t.TempDir()
	hidden, beside := filepath.Join(dir, "worker.nk"), filepath.Join(dir, "beside")
	for _, path := range []string{hidden, beside} {
		if err := os.WriteFile(path, []byte("SUAM"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := NewMachine(MachineConfig{Hide: []string{hidden}, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Evaluator(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	for path, read := range map[string]bool{hidden: false, beside: true} {
		r, err := e.Evaluate(t.Context(), fmt.Sprintf("raise Exception('got ' + open(%q).read())\n", path))
		if err != nil || r.Valid || strings.Contains(r.Reason, "SUAM") != read {
			t.Errorf("%s: got %+v, %v, want it to be read: %v", filepath.Base(path), r, err, read)
		}
	}
}
