package isolation

import (
	"encoding"
	"flag"
	"strings"
	"testing"
)

var (
	_ encoding.TextMarshaler   = Level(0)
	_ encoding.TextUnmarshaler = (*Level)(nil)
)

func TestLevel(t *testing.T) {
	var level Level
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.TextVar(&level, "isolation", BestEffort, "")
	for _, want := range []Level{Strict, None, BestEffort} {
		if err := flags.Parse([]string{"-isolation", want.String()}); err != nil || level != want {
			t.Errorf("parsed %v, %v, want %v", level, err, want)
		}
	}
	if err := level.UnmarshalText([]byte("total")); err == nil ||
		!strings.Contains(err.Error(), "besteffort, strict, none") {
		t.Errorf("got %v", err)
	}
	if Level(7).Check() == nil || Level(-1).String() != "Level(-1)" {
		t.Error("an unknown level passes")
	}
}

func TestReport(t *testing.T) {
	r := Report{{Mechanism: "process group"}, {Mechanism: "landlock", Missing: "turned off"}, {Mechanism: "seccomp"}}
	if got := r.String(); got != "in force: process group, seccomp; missing: landlock (turned off)" {
		t.Error(got)
	}
	if r.Has("landlock") || !r.Has("seccomp") || r.Has("pid namespace") {
		t.Errorf("%v has the wrong ones", r)
	}
	if got := r.Missing(); len(got) != 1 || got[0].String() != "landlock (turned off)" {
		t.Errorf("missing are %v", got)
	}
	if got := (Report{}).String(); got != "in force: nothing" {
		t.Error(got)
	}
}
