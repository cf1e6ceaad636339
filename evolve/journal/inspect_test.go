package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// A run that stalls ended and a larger cap let go on is not over, though its journal tells of a stop.
func TestInspectRaised(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.journal")
	l, err := wal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		record.Record
		over bool
	}{
		{record.Record{Kind: record.Header, Version: record.Version}, false},
		{record.Record{Kind: record.Stop, Stop: "budget", Limit: "Stalls"}, true},
		{record.Record{Kind: record.Raise, Limit: "Stalls", Fingerprint: journal.Fingerprint{"Budget.Stalls": "20"}}, false},
	} {
		if _, err := l.Append(step.Record); err != nil {
			t.Fatal(err)
		}
		if s, err := journal.Inspect(path); err != nil || s.Finished != step.over {
			t.Errorf("after record %d, a %s: over %v, %v", i, step.Kind, s.Finished, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be a journal is told from one that was only just begun, and damage does not hide what stands before it.
func TestInspectBrokenFiles(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	if _, _, err := durable(whole, 9, journal.Fingerprint{"task": "sum"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), data...)
	damaged[len(data)/2] ^= 1
	for _, tt := range []struct {
		reason string
		file   []byte
		begun  bool
		sound  bool
	}{
		{"a whole journal", data, true, true},
		{"its first record is being written", data[:10], false, true},
		{"nothing is written yet", nil, false, true},
		{"a line in the middle is damaged", damaged, true, false},
		{"no journal at all", []byte("{\"score\": 1}\n{\"score\": 2}\n"), false, false},
	} {
		path := filepath.Join(t.TempDir(), "r.journal")
		if err := os.WriteFile(path, tt.file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := journal.Inspect(path)
		if s.Begun != tt.begun || (err == nil) != tt.sound || s.Begun && s.Fingerprint["task"] != "sum" {
			t.Errorf("%s: %+v, %v", tt.reason, s, err)
		}
	}
	if _, err := journal.Inspect(whole + ".gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
