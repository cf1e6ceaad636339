package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// Layers are there wherever there are private mounts of a kernel from 2021 on, also below paths with characters that
// separate options.
func TestTryLayer(t *testing.T) {
	plan, err := NewCommandPlan(isolation.BestEffort, Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	if !plan.furnishes {
		t.Skip("no private mounts here: " + plan.missing[MountNS])
	}
	dir := filepath.Join(t.TempDir(), `a,b:c\d e`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, clear := range []bool{false, true} {
		if err := plan.TryLayer(dir, clear); err != nil {
			t.Errorf("with folders hidden %v: %v", clear, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	without, err := NewCommandPlan(isolation.None, Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	if without.TryLayer(dir, false) == nil {
		t.Error("there are layers without private mounts")
	}
}
