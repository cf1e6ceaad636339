package evolve_test

import (
	"os"
	"testing"
)

// What a journal adds to the texts of a child's reply and program, which have some 20 bytes each here, is bounded.
func TestJournalBytes(t *testing.T) {
	const calls, most = 640, 1100
	path := journalPath(t)
	journaledRun(t, path, climber, 10, 64, calls)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(info.Size()) / calls; got > most {
		t.Errorf("the journal has %.0f bytes a child, want at most %d", got, most)
	} else {
		t.Logf("%.0f bytes a child", got)
	}
}
