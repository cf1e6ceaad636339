package sandbox

import (
	"bytes"
	"encoding"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	_ encoding.TextMarshaler   = Isolation(0)
	_ encoding.TextUnmarshaler = (*Isolation)(nil)
)

func TestIsolation(t *testing.T) {
	var level Isolation
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.TextVar(&level, "isolation", BestEffort, "")
	for _, want := range []Isolation{Strict, None, BestEffort} {
		if err := flags.Parse([]string{"-isolation", want.String()}); err != nil || level != want {
			t.Errorf("parsed %v, %v, want %v", level, err, want)
		}
	}
	if err := level.UnmarshalText([]byte("total")); err == nil || !strings.Contains(err.Error(), "besteffort, strict, none") {
		t.Errorf("got %v", err)
	}
	if Isolation(7).Check() == nil || Isolation(-1).String() != "Isolation(-1)" {
		t.Error("a level that there is not passes")
	}
}

func TestReport(t *testing.T) {
	r := NewReport([]Mechanism{Group, Landlock, Seccomp}, map[Mechanism]string{Landlock: "turned off"})
	if got := r.String(); got != "in force: process group, seccomp; missing: landlock (turned off)" {
		t.Error(got)
	}
	if r.Has(Landlock) || !r.Has(Seccomp) || r.Has(PIDNS) {
		t.Errorf("%v has the wrong ones", r)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "landlock (turned off)") {
		t.Errorf("got %v", err)
	}
	if got := r.Reasons(); got != "landlock (turned off)" {
		t.Errorf("the reasons are %q", got)
	}
	if r := NewReport([]Mechanism{Group}, nil); r.Err() != nil || r.Reasons() != "" {
		t.Errorf("nothing is missing, and got %v, %q", r.Err(), r.Reasons())
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
	some := NewReport(Mechanisms()[:3], map[Mechanism]string{Limits: "not here"})
	all := NewReport(Mechanisms()[:3], nil)
	for _, tt := range []struct {
		reason string
		report Report
		level  Isolation
		want   string // the line's level; "" for none
	}{
		{"a mechanism is missing", some, BestEffort, "level=WARN"},
		{"nothing was wanted", all, None, "level=INFO"},
		{"everything is in force", all, BestEffort, ""},
		{"everything is in force, as it must be", all, Strict, ""},
	} {
		var log bytes.Buffer
		tt.report.Announce(slog.New(slog.NewTextHandler(&log, nil)), "python", tt.level)
		got := log.String()
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || tt.want == "level=WARN" && !strings.Contains(got, `missing="resource limits (not here)"`) {
			t.Errorf("%s: logged %q, want %q", tt.reason, got, tt.want)
		}
	}
}
