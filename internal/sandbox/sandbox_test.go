package sandbox

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

func TestRequire(t *testing.T) {
	some := newReport([]isolation.Mechanism{Group, Landlock}, map[isolation.Mechanism]string{Landlock: "turned off"})
	if err := Require(isolation.Strict, some); err == nil || !strings.Contains(err.Error(), "isolation strict") ||
		!strings.Contains(err.Error(), "lacks landlock (turned off)") {
		t.Errorf("got %v", err)
	}
	for _, level := range []isolation.Level{isolation.BestEffort, isolation.None} {
		if err := Require(level, some); err != nil {
			t.Errorf("%v needs all: %v", level, err)
		}
	}
	if err := Require(isolation.Strict, newReport([]isolation.Mechanism{Group}, nil)); err != nil {
		t.Errorf("nothing is missing, and got %v", err)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]uint64{0: 0, 1: 1, time.Second: 1, time.Second + 1: 2} {
		if got := (Bounds{CPU: d}).Seconds(); got != want {
			t.Errorf("%v is %d s, want %d", d, got, want)
		}
	}
}

func TestCapture(t *testing.T) {
	for _, c := range []struct{ in, want, why string }{
		{"abcdefgh", "abcdefgh", "all fits"},
		{"abcdefghi", "abcd\n... 1 bytes left out ...\nfghi", "one too many"},
		{strings.Repeat("x", 100) + "tail", "xxxx\n... 96 bytes left out ...\ntail", "many"},
	} {
		for _, piece := range []int{1, 3, 1000} {
			capture := Capture{Keep: 4}
			for rest := c.in; rest != ""; {
				n := min(piece, len(rest))
				capture.Take([]byte(rest[:n]))
				rest = rest[n:]
			}
			if capture.String() != c.want || capture.Size() != len(c.in) {
				t.Errorf("%s, in pieces of %d: %q", c.why, piece, capture.String())
			}
		}
	}
}

func TestRelative(t *testing.T) {
	scratch := filepath.Join("tmp", "x")
	if got := Relative(filepath.Join(scratch, "a")+" in "+scratch+"\xff", scratch); got != "a in .\ufffd" {
		t.Errorf("%q", got)
	}
	if got := Relative("abc", ""); got != "abc" {
		t.Errorf("%q", got)
	}
}

func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"a/b", "a", "."} {
		if err := os.Chmod(filepath.Join(dir, sub), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

// A user sees what is not in force, by name, and no line if everything is.
func TestAnnounce(t *testing.T) {
	some := newReport(Mechanisms()[:3], map[isolation.Mechanism]string{Limits: "not here"})
	all := newReport(Mechanisms()[:3], nil)
	for _, tt := range []struct {
		reason string
		report isolation.Report
		level  isolation.Level
		want   string // the line's level; "" for none
	}{
		{"a mechanism is missing", some, isolation.BestEffort, "level=WARN"},
		{"nothing was wanted", all, isolation.None, "level=INFO"},
		{"everything is in force", all, isolation.BestEffort, ""},
		{"everything is in force, as it must be", all, isolation.Strict, ""},
	} {
		var log bytes.Buffer
		Announce(slog.New(slog.NewTextHandler(&log, nil)), "python", tt.level, tt.report)
		got := log.String()
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || tt.want == "level=WARN" &&
			!strings.Contains(got, `missing="resource limits (not here)"`) {
			t.Errorf("%s: logged %q, want %q", tt.reason, got, tt.want)
		}
	}
}
