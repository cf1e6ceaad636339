package command

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Of a folder with very many files only some are listed, as a candidate can make more than fit into memory.
func TestStuckListsSome(t *testing.T) {
	scratch := t.TempDir()
	p := place{scratch: scratch, work: filepath.Join(scratch, "work")}
	if err := os.Mkdir(p.work, 0o700); err != nil {
		t.Fatal(err)
	}
	const files, most = 200, 10
	for i := range files {
		if err := os.WriteFile(filepath.Join(p.work, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	if n := testing.AllocsPerRun(1, func() { names = stuck(p, most) }); n > files || len(names) != most {
		t.Errorf("%d of %d files were found, with %v allocations", len(names), files, n)
	}
	if err := os.Rename(p.work, p.work+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", p.work); err != nil {
		t.Skip(err) // a Windows user may not
	}
	if names := stuck(p, most); len(names) > 0 {
		t.Errorf("through a link: %q", names)
	}
}
