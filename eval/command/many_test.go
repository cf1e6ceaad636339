package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// Of many candidates of a large tree nothing is left, and the base stays as it was, whether they share it or copy it. With
// -v the test prints what a candidate takes beside one without a base.
func TestManyCandidatesOfALargeTree(t *testing.T) {
	base := t.TempDir()
	for i := range notrun.Length(150, 1500) {
		writeBase(t, filepath.Join(base, fmt.Sprintf("d%d/e%d/f%d.txt", i%30, i%7, i)),
			strings.Repeat("some text of a file\n", 340))
	}
	before := digestOf(t, base)
	plain := shell
	plain.Args = []string{"sh", "-c", "echo 1", "{program}"}
	cfg := shell
	cfg.Args, cfg.Base = []string{"sh", "-c", "cat d1/e1/f1.txt; test ! -e d0/e0/f0.txt"}, base
	program := func(i int) string {
		return patch.Patch{Base: "test", Files: map[string]string{"d1/e1/f1.txt": fmt.Sprintf("%d\n", i),
			"new/deep/x": "x\n"}, Deleted: []string{"d0/e0/f0.txt"}}.String()
	}
	for _, way := range []struct {
		name string
		cfg  Config
		ms   []isolation.Mechanism
		n    int
	}{
		{"no base", plain, nil, notrun.Length(5, 1000)},
		{"a shared layer", cfg, nil, notrun.Length(10, 1000)},
		{"a copy", cfg, []isolation.Mechanism{sandbox.MountNS}, notrun.Length(1, 50)},
	} {
		e := without(t, way.cfg, way.ms)
		if way.name == "a shared layer" && !e.base.layers {
			t.Log("no layers here")
		}
		there, begun := len(leftovers(os.TempDir())), time.Now()
		for i := range way.n {
			r, err := e.Evaluate(t.Context(), program(i))
			if want := float64(i); err != nil || way.cfg.Base != "" && (!r.Valid || r.Score != want) {
				t.Fatalf("%s: candidate %d got %+v, %v", way.name, i, r, err)
			}
		}
		t.Logf("%s: %d candidates, %.1f ms each, %s", way.name, way.n,
			float64(time.Since(begun).Microseconds())/float64(way.n)/1000, peak())
		if left := leftovers(os.TempDir()); len(left) > there {
			t.Errorf("%s: left behind: %q", way.name, left)
		}
	}
	if digestOf(t, base) != before {
		t.Error("the base was changed")
	}
}

// peak returns the most memory that this process has had, where the system says so.
func peak() string {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return "at most " + strings.TrimSpace(line)
}
