package uplot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// What is compiled in is what pins.json says, and nothing is compiled in that it does not name.
func TestEmbeddedFilesHaveThePinnedSums(t *testing.T) {
	text, err := os.ReadFile("pins.json")
	if err != nil {
		t.Fatal(err)
	}
	var pins struct{ Files map[string]string }
	if err := json.Unmarshal(text, &pins); err != nil {
		t.Fatal(err)
	}
	embedded := map[string]string{"LICENSE": License, "dist/uPlot.iife.min.js": Script, "dist/uPlot.min.css": Style}
	if len(pins.Files) != len(embedded) {
		t.Errorf("pins.json names %d files, and %d are embedded", len(pins.Files), len(embedded))
	}
	for name, content := range embedded {
		sum := sha256.Sum256([]byte(content))
		if got := hex.EncodeToString(sum[:]); got != pins.Files[name] {
			t.Errorf("%s has SHA-256 %s, and pins.json has %q", name, got, pins.Files[name])
		}
	}
}
