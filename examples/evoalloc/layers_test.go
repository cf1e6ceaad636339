package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func layered(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := runLayers(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A finished run is told of again from its journal, word for word.
func TestLayersGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	first := layered(t, "--calls", "80", "--journal", path)
	if again := layered(t, "--calls", "80", "--journal", path); again != first || !strings.HasPrefix(first, "80 calls;") {
		t.Errorf("it says\n%s\nand then\n%s", first, again)
	}
	if err := runLayers(t.Context(), []string{"--calls", "80", "--seed", "2", "--journal", path},
		&strings.Builder{}); err == nil {
		t.Error("another search goes on with the journal")
	}
}

func TestComparisonOfLayers(t *testing.T) {
	out := layered(t, "--calls", "10", "--runs", "2")
	for _, want := range []string{"2 runs of each", "layers ", "best base alone", "random router", "first router",
		"one call routes", "flat: greedy, more FLOPs"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestWrongLayersFlags(t *testing.T) {
	for _, args := range [][]string{{"--runs", "1"}, {"--runs", "-2"}, {"--calls", "0"}} {
		if err := runLayers(t.Context(), args, &strings.Builder{}); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
