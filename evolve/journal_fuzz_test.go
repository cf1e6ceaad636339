package evolve_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// However a journal is cut, flipped or pieced together again, a run either resumes from a true prefix,
// and so comes to the result of an undisturbed one, or the damage is reported; nothing is invented.
func FuzzJournal(f *testing.F) {
	jb := job{k: 2, n: 2, inFlight: 1, calls: 8, model: climber}
	path := journalPath(f)
	_, want, err := jb.run(f.Context(), f, path)
	if err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(900), uint16(0), uint8(0))
	f.Add(uint16(900), uint16(0x1234), uint8(1))
	f.Add(uint16(300), uint16(700), uint8(2))
	f.Add(uint16(300), uint16(700), uint8(3))
	f.Fuzz(func(t *testing.T, a, b uint16, how uint8) {
		i, j := int(a)%len(whole), int(b)%len(whole)
		i, j = min(i, j), max(i, j)
		var mangled []byte
		switch how % 4 {
		case 0: // cut
			mangled = whole[:j]
		case 1: // flip
			mangled = bytes.Clone(whole)
			mangled[j] ^= byte(b>>8) | 1
		case 2: // duplicate
			mangled = append(bytes.Clone(whole[:j]), whole[i:]...)
		case 3: // remove
			mangled = append(bytes.Clone(whole[:i]), whole[j:]...)
		}
		part := filepath.Join(t.TempDir(), "part")
		if err := os.WriteFile(part, mangled, 0o644); err != nil {
			t.Fatal(err)
		}
		_, got, err := jb.run(t.Context(), t, part)
		switch {
		case err != nil && !strings.Contains(err.Error(), "damaged"):
			t.Errorf("neither resumed nor reported as damaged: %v", err)
		case err == nil && !bytes.Equal(got, want):
			t.Error("resumed to another result")
		}
	})
}
