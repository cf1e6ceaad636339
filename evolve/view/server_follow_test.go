package view

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
)

// headings returns the runs that s lists.
func headings(t testing.TB, s *Server) []heading {
	t.Helper()
	status, body, _ := get(t, s, "/api/runs")
	var l listing
	if err := json.Unmarshal(body, &l); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	return l.Runs
}

// names returns the names of the runs that s lists, sorted.
func names(t testing.TB, s *Server) (list []string) {
	for _, h := range headings(t, s) {
		list = append(list, h.Name)
	}
	slices.Sort(list)
	return list
}

// state returns what a page is sent of a run that has the rows before from.
func state(t testing.TB, s *Server, id, from string) (st runState) {
	t.Helper()
	status, body, _ := get(t, s, "/api/state?run="+id+from)
	if err := json.Unmarshal(body, &st); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	return st
}

// A page has all of a finished run, and is sent only what it does not have.
func TestStateOfAFinishedRun(t *testing.T) {
	s := serving(t, ServerConfig{}, finished(t))
	id := only(t, s)
	st := state(t, s, id, "")
	if len(st.Children.Arm) != 24 || st.Status != "over" || st.ID != id || st.Name != "run" {
		t.Errorf("%d children of %s %q, %s", len(st.Children.Arm), st.ID, st.Name, st.Status)
	}
	if rest := state(t, s, id, "&children=20&rounds=1"); len(rest.Children.Arm) != 4 ||
		rest.From != (rowCursor{20, 1}) || rest.Next != st.Next {
		t.Errorf("from child 20 and round 1: %d children from %v to %v", len(rest.Children.Arm), rest.From, rest.Next)
	}
	best := st.Best[0]
	key := st.Children.Program[best]
	status, body, _ := get(t, s, "/api/program?run="+id+"&key="+key)
	var code programText
	if err := json.Unmarshal(body, &code); err != nil || status != 200 || code.Text == "" {
		t.Errorf("the best program is %d %s: %v", status, body, err)
	}
	if status, body, _ := get(t, s, "/api/program?run="+id+"&key=nothing"); status != 404 {
		t.Errorf("a program that is not there is %d %s", status, body)
	}
	status, body, _ = get(t, s, "/api/diff?run="+id+"&from="+st.Arms[0].Program+"&to="+key)
	var changes []lineChange
	if err := json.Unmarshal(body, &changes); err != nil || status != 200 || len(changes) == 0 {
		t.Errorf("the difference is %d %s: %v", status, body, err)
	}
}

// The report of now is a file of its own.
func TestReportOfNow(t *testing.T) {
	s := serving(t, ServerConfig{Title: "a circle packing"}, finished(t))
	status, body, h := get(t, s, "/report?run="+only(t, s))
	if status != 200 || !strings.Contains(string(body), "a circle packing") ||
		!strings.Contains(h.Get("Content-Disposition"), "attachment") {
		t.Errorf("the report is %d with %v and %d bytes", status, h, len(body))
	}
	if _, token := base(t, s); strings.Contains(string(body), token) {
		t.Errorf("the report has the token in it")
	}
	if status, _, _ := get(t, s, "/report?run=nothing"); status != 404 {
		t.Errorf("the report of no run is %d", status)
	}
}

// A folder's runs are tabs: those that are there, those that begin later, and those that were moved aside for another.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(in("deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	small := bench{calls: 8, arms: 1}
	small.run(t.Context(), t, in("a.journal"))
	if err := os.WriteFile(in("torn.journal"), []byte(`{"i":0,"ki`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("a.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serving(t, ServerConfig{pace: fast}, dir)
	if got := names(t, s); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("the runs are %q, want the one that has a whole record", got)
	}
	first := headings(t, s)[0].ID
	small.run(t.Context(), t, in("deep/b.journal"))
	until(t, "the run that began later is listed", func() bool {
		return slices.Equal(names(t, s),
			[]string{"a", "deep/b"})
	})

	if err := os.Rename(in("a.journal"), in("a.1.journal")); err != nil {
		t.Fatal(err)
	}
	small.run(t.Context(), t, in("a.journal"))
	until(t, "the run that was moved aside stays beside the new one",
		func() bool { return slices.Equal(names(t, s), []string{"a", "a.1", "deep/b"}) })
	if st := state(t, s, first, ""); st.Name != "a.1" || len(st.Children.Arm) != 8 {
		t.Errorf("the run that was moved aside is %q with %d children", st.Name, len(st.Children.Arm))
	}
	if err := os.Remove(in("deep/b.journal")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s); len(got) != 3 {
		t.Errorf("after one was removed the runs are %q", got)
	}
}

// What is not there, and what is not a journal, is said at once.
func TestFollowRefuses(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{other, other + ".journal"} {
		if err := s.Follow(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("following %s: %v", path, err)
		}
	}
}

// A run that is watched from its first round to its end, with a kill of its process in the middle: the status tells
// whether somebody works on it.
func TestStatusFollowsTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	ctx, cancel := context.WithCancel(t.Context())
	b := gated(bench{calls: 32, arms: 2})
	over := make(chan struct{})
	go func() { defer close(over); b.run(ctx, t, path) }()
	b.rounds(t, 1)
	s := serving(t, ServerConfig{pace: fast}, path)
	id := only(t, s)
	until(t, "the run is running, with a round", func() bool {
		st := state(t, s, id, "")
		return st.Status == "running" && len(st.Rounds.Arm) > 0
	})
	cancel()
	b.open()
	<-over
	until(t, "the run was canceled", func() bool { return state(t, s, id, "").Status == "canceled" })
	b = gated(b.bench)
	b.open()
	b.run(t.Context(), t, path)
	until(t, "the run is over", func() bool {
		st := state(t, s, id, "")
		return st.Status == "over" && len(st.Children.Arm) == 32
	})
}

// A gate holds a run at the end of each round until it is let go on.
type gate struct {
	bench
	goOn chan struct{}
}

func gated(b bench) *gate {
	g := &gate{bench: b, goOn: make(chan struct{})}
	g.observe = func(e evolve.Event) {
		if e.Kind == evolve.EventGeneration {
			<-g.goOn
		}
	}
	return g
}

// rounds waits until the run has ended so many rounds more, and lets it begin another.
func (g *gate) rounds(t testing.TB, n int) {
	t.Helper()
	for range n {
		select {
		case g.goOn <- struct{}{}:
		case <-time.After(generous):
			t.Fatal("the run makes no round")
		}
	}
}

// open lets the run come to its end.
func (g *gate) open() { close(g.goOn) }

// Journals that no page looks at are not kept in memory, nor more than so many of those that one does.
func TestJournalsAreForgotten(t *testing.T) {
	dir, one := t.TempDir(), finished(t)
	text, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostRead + 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.journal", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quick := fast
	quick.idle = 300 * time.Millisecond
	s := serving(t, ServerConfig{pace: quick}, dir)
	read := func() (n int) {
		for _, tab := range s.all() {
			if _, read := tab.lastAsked(); read {
				n++
			}
		}
		return n
	}
	if n := read(); n != 0 {
		t.Errorf("%d journals are read that nobody asked for", n)
	}
	a := listen(t, s)
	for _, h := range headings(t, s) {
		if st := state(t, s, h.ID, ""); len(st.Children.Arm) != 24 {
			t.Errorf("%s has %d children, want 24", h.Name, len(st.Children.Arm))
		}
	}
	if n := read(); n != mostRead {
		t.Errorf("%d journals are in memory, want %d", n, mostRead)
	}
	a.answer.Body.Close()
	until(t, "none is in memory once no page is open", func() bool { return read() == 0 })
}
