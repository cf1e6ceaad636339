package view

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path"
	"testing"
)

// What is compiled in of uPlot is what pins.json says.
func TestEmbeddedFilesHaveThePinnedSums(t *testing.T) {
	text, err := os.ReadFile("uplot/pins.json")
	if err != nil {
		t.Fatal(err)
	}
	var pins struct{ Files map[string]string }
	if err := json.Unmarshal(text, &pins); err != nil {
		t.Fatal(err)
	}
	embedded, err := files.ReadDir("uplot")
	if err != nil {
		t.Fatal(err)
	}
	if len(pins.Files) != len(embedded) || len(embedded) < 3 {
		t.Errorf("pins.json names %d files, and %d are embedded", len(pins.Files), len(embedded))
	}
	for name, want := range pins.Files {
		sum := sha256.Sum256(file("uplot/" + path.Base(name)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has SHA-256 %s, and pins.json has %q", name, got, want)
		}
	}
}
