package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func TestBadWatchFlags(t *testing.T) {
	for _, tt := range []struct{ args, want, reason string }{
		{"", "is missing", "there is nothing to watch"},
		{"a b", `unexpected argument "b"`, "one page shows one folder"},
		{"no-such-file", "no-such-file", "there is no such run"},
		{"watch.go", "watch.go", "it is not a journal"},
		{"--watch=nowhere:http:1 .", "--watch=nowhere:http:1", "it is no address"},
		{"--no-such-flag .", "no-such-flag", "there is no such flag"},
	} {
		err := runWatch(t.Context(), strings.Fields(tt.args))
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want a usage error with %q: %s", tt.args, err, tt.want, tt.reason)
		}
	}
}

// A run of another process is watched while that is killed, and goes on, and is over.
func TestRunOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	bandit := "bandit --T 40 --N 8 --n-arms 2 --breadth fixed --offline-latency 30ms --output " + dir
	first := process(t, bandit)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	page := watching(t, dir)
	run := page.only(t)
	page.until(t, run, "it goes on", func(s runState) bool { return s.Status == "running" && len(s.Children.Arm) > 0 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	page.until(t, run, "it was killed", func(s runState) bool { return s.Status == "stopped" })
	if err := process(t, strings.Replace(bandit, "30ms", "0", 1)+" --resume").Run(); err != nil {
		t.Fatal(err)
	}
	page.until(t, run, "it is over, and one history",
		func(s runState) bool { return s.Status == "over" && len(s.Children.Arm) == 320 })
}

// A run with --watch prints the link, has its page while it goes on, and after its end until Ctrl-C, and leaves a
// report.
func TestWatchFlag(t *testing.T) {
	dir := t.TempDir()
	page := begun(t, process(t, "bandit --watch --T 8 --N 8 --n-arms 2 --output "+dir))
	page.until(t, page.only(t), "the run is over", func(s runState) bool {
		return s.Status == "over" && len(s.Children.Arm) == 64
	})
	page.stop(t)
	if reports, err := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", "*_seed0.report.html")); err != nil ||
		len(reports) != 1 {
		t.Errorf("the run leaves the reports %q: %v", reports, err)
	}
}

// Ctrl-C during a run with --watch loses nothing: the run can go on, and the report says how far it is.
func TestStoppedRunLeavesAReport(t *testing.T) {
	dir := t.TempDir()
	page := begun(t, process(t, "bandit --watch --T 10000000 --N 8 --n-arms 2 --grace 0s --output "+dir))
	page.until(t, page.only(t), "it has begun", func(s runState) bool { return len(s.Children.Arm) > 0 })
	if status := page.interrupt(t); status != 130 {
		t.Errorf("the status after Ctrl-C is %d, want 130", status)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", "*.partial.report.html"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("the run leaves the reports %q: %v", reports, err)
	}
	text, err := os.ReadFile(reports[0])
	if err != nil || strings.Contains(string(text), page.token) ||
		!strings.Contains(string(text), "it was canceled, and can go on") {
		t.Errorf("the report of %d bytes has the token, or does not say that the run was canceled: %v", len(text), err)
	}
}

// A report that cannot be written is an error, but the user is told how the run goes on all the same.
func TestReportThatCannotBeSaved(t *testing.T) {
	dir := t.TempDir()
	page := begun(t, process(t, "bandit --watch --T 10000000 --N 8 --n-arms 2 --grace 0s --output "+dir))
	page.until(t, page.only(t), "it has begun", func(s runState) bool { return len(s.Children.Arm) > 0 })
	journals, err := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", "*.journal"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("the run has the journals %q: %v", journals, err)
	}
	taken := strings.TrimSuffix(journals[0], ".journal") + ".partial.report.html"
	if err := os.MkdirAll(filepath.Join(taken, "something"), 0o755); err != nil {
		t.Fatal(err)
	}
	if status := page.interrupt(t); status != 1 {
		t.Errorf("the status is %d, want 1", status)
	}
	if said := strings.Join(page.last, "\n"); !strings.Contains(said, "--resume") {
		t.Errorf("it does not say how the run goes on: %s", said)
	}
}
