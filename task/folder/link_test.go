package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is shown to the model is in the folder: a link in a folder that somebody else made could send any file
// that the user can read.
func TestLinksOutOfTheFolder(t *testing.T) {
	private := filepath.Join(t.TempDir(), "id_rsa")
	if err := os.WriteFile(private, []byte("# private\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason, name, to string
		refused          bool
	}{
		{"an initial program elsewhere", "initial_program.py", private, true},
		{"by a path from the folder", "initial_program.py", "..", true},
		{"settings elsewhere, whose errors and system message show them", "config.yaml", private, true},
		{"a file of the folder under another name", "initial_program.py", "program.py", false},
		{"an evaluator elsewhere, which is run and not shown", "evaluator.py", private, false},
	} {
		dir := write(t, "program.py", "x = 1\n", "initial_program.py", "x = 1\n", "evaluator.py",
			"def evaluate(p): return {}\n")
		path := filepath.Join(dir, tt.name)
		if strings.HasPrefix(tt.to, "..") { // to the same file
			var err error
			if tt.to, err = filepath.Rel(dir, private); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(tt.to, path); err != nil {
			t.Skip(err) // a Windows user may not
		}
		f, err := Read(dir, Config{})
		switch {
		case tt.refused && (err == nil || !strings.Contains(err.Error(), tt.name) ||
			!strings.Contains(err.Error(), "leads out of the folder")):
			t.Errorf("%s: error %v, want one that names the link", tt.reason, err)
		case tt.refused && f != nil:
			t.Errorf("%s: read all the same", tt.reason)
		case !tt.refused && err != nil:
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
	// The folder itself may be a link: the user named it.
	dir := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(write(t, "initial.py", "x = 1\n", "evaluator.py", ""), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, Config{}); err != nil {
		t.Errorf("a folder that is named by a link: %v", err)
	}
}
