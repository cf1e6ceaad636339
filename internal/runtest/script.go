package runtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CheckScripts compares the answers to commands with scripts, which are read as prose. It plays each script that
// matches pattern, of which there are at least five, as a subtest. A script is paragraphs: comments, or what is asked,
// a line of dashes, and the answer. begin is called for each script, and what it returns for each paragraph that asks.
// With update the answers are written into the scripts.
func CheckScripts(t *testing.T, pattern string, update bool,
	begin func(t *testing.T) (ask func(lines []string) (answer string))) {
	scripts, err := filepath.Glob(pattern)
	if err != nil || len(scripts) < 5 {
		t.Fatalf("%d scripts: %v", len(scripts), err)
	}
	for _, path := range scripts {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := playScript(string(text), begin(t))
			if update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-want +got), -update accepts it:\n%s", diff)
			}
		})
	}
}

// playScript returns a script with the answers that ask gives.
func playScript(script string, ask func(lines []string) string) string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(script), "\n\n") {
		asked, _, asks := strings.Cut(paragraph, "\n----")
		if !asks {
			out = append(out, paragraph)
			continue
		}
		out = append(out, asked+"\n----\n"+ask(strings.Split(asked, "\n")))
	}
	return strings.Join(out, "\n\n") + "\n"
}
