package view

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A stream is what a page hears.
type stream struct {
	answer *http.Response
	lines  *bufio.Scanner
}

// listen opens a stream and waits for its first sign of life.
func listen(t testing.TB, s *Server) *stream {
	t.Helper()
	a, err := client.Do(request(t, s, "/api/events"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	st := &stream{a, bufio.NewScanner(a.Body)}
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("the stream is answered %s as %s", a.Status, a.Header.Get("Content-Type"))
	}
	if line := st.next(t); line != ":" {
		t.Fatalf("the stream begins with %q, want a comment", line)
	}
	return st
}

// next returns the next line that is not empty, or "end".
func (s *stream) next(t testing.TB) string {
	t.Helper()
	for s.lines.Scan() {
		if line := s.lines.Text(); line != "" {
			return line
		}
	}
	return "end"
}

// word returns the next line that is not a beat.
func (s *stream) word(t testing.TB) string {
	t.Helper()
	for {
		if line := s.next(t); line != ":" {
			return line
		}
	}
}

// The stream says that there is more and nothing else, once for many records, and beats where nothing happens.
func TestStreamSaysThatThereIsMore(t *testing.T) {
	slow := fast
	slow.between = 300 * time.Millisecond
	path := filepath.Join(t.TempDir(), "run.journal")
	g := gated(bench{calls: 64, arms: 2})
	over := make(chan struct{})
	go func() { defer close(over); g.run(t.Context(), t, path) }()
	g.rounds(t, 1)
	s := serving(t, ServerConfig{pace: slow}, path)
	st := listen(t, s)
	if line := st.next(t); line != ":" && line != "data: more" {
		t.Errorf("the stream says %q", line)
	}
	id := only(t, s)
	state(t, s, id, "") // from now on it is followed
	g.open()
	<-over
	until(t, "all of it is read", func() bool { return len(state(t, s, id, "").Children.Arm) == 64 })
	words := 0
	closed := time.AfterFunc(2*slow.between, func() { s.Close() }) // the last word is said by then
	defer closed.Stop()
	for line := st.word(t); line != "end"; line = st.word(t) {
		if line != "data: more" {
			t.Errorf("the stream says %q", line)
		}
		words++
	}
	if records := 64 * 4; words < 1 || words > records/4 {
		t.Errorf("the stream spoke %d times of more than %d records", words, records)
	}
}

// More pages than may be open are refused until one is closed.
func TestReadersAreLimited(t *testing.T) {
	s := serving(t, ServerConfig{Readers: 2, pace: fast}, finished(t))
	first := listen(t, s)
	listen(t, s)
	if status, body, h := get(t, s, "/api/events"); status != 503 || h.Get("Retry-After") == "" {
		t.Errorf("a third reader is answered %d %s", status, body)
	}
	first.answer.Body.Close()
	until(t, "the place is free again", func() bool {
		a, err := client.Do(request(t, s, "/api/events"))
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		return a.StatusCode == 200
	})
}

// Answers that wait for their readers share a bounded room, and one that has no room is refused.
func TestRoom(t *testing.T) {
	r := newRoom()
	for range 100 {
		if _, ok := r.take(smallAnswer); !ok {
			t.Fatal("a small answer needs room")
		}
	}
	half, ok := r.take(roomBytes / 2)
	if !ok {
		t.Fatal("an empty room has no room for half of it")
	}
	if _, ok := r.take(roomBytes/2 + 1); ok {
		t.Error("more than there is was given")
	}
	other, ok := r.take(roomBytes / 2)
	if !ok {
		t.Error("the other half was refused")
	}
	half()
	other()
	all, ok := r.take(2 * roomBytes)
	if !ok {
		t.Error("an answer that is larger than the room is never sent")
	}
	if _, ok := r.take(smallAnswer + 1); ok {
		t.Error("there is room beside it")
	}
	all()
	if used := r.used.Load(); used != 0 {
		t.Errorf("%d bytes are used by nobody", used)
	}
}

// wide makes a run whose programs have size bytes, while observe is told.
func wide(t testing.TB, path string, size int, observe func(evolve.Event)) *evolve.Result {
	t.Helper()
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: fmt.Sprintf("```\n%d%s\n```", req.Seed, strings.Repeat(" 1", size/2)),
			Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 1, CompletionTokens: 1}}}}, nil
	})
	tk, err := task.New(task.Spec{Name: "wide", System: "Numbers.", Initial: "0",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: tk, LLM: model, N: 2, Seed: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 6}, Journal: j, Observer: observe})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// deaf sends a request on a connection of its own and reads nothing of the answer.
func deaf(t testing.TB, s *Server, path string) net.Conn {
	t.Helper()
	r := request(t, s, path)
	c, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.(*net.TCPConn).SetReadBuffer(4 << 10)
	if err := r.Write(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// 50 readers that never read hold nobody back: the run comes to its end, an honest page is answered, what is kept for
// them has a bound, and they are cut off in the end.
func TestReadersThatNeverRead(t *testing.T) {
	const size, readers = 1 << 20, 50
	path := filepath.Join(t.TempDir(), "run.journal")
	patientless := fast
	patientless.write = 2 * time.Second
	s, err := NewServer(ServerConfig{pace: patientless})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Listen(""); err != nil {
		t.Fatal(err)
	}
	var most int64
	begun := false
	result := wide(t, path, size, func(e evolve.Event) {
		if e.Kind != evolve.EventGeneration {
			return
		}
		most = max(most, s.room.used.Load())
		if begun {
			return
		}
		begun = true
		if err := s.Follow(path); err != nil {
			t.Error(err)
		}
		for i := range readers {
			// Half of them ask for something large, and half for the stream.
			deaf(t, s, []string{"/api/program?run=" + only(t, s) + "&key=" + programOf(t, s), "/api/events"}[i%2])
		}
	})
	if result.Calls != 6 {
		t.Errorf("the run made %d calls, want 6", result.Calls)
	}
	if status, body, _ := get(t, s, "/api/runs"); status != 200 {
		t.Errorf("an honest page is answered %d %s", status, body)
	}
	until(t, "some of them wait for room or have taken it",
		func() bool { most = max(most, s.room.used.Load()); return most > 0 })
	until(t, "they are cut off", func() bool { most = max(most, s.room.used.Load()); return s.room.used.Load() == 0 })
	if most > roomBytes {
		t.Errorf("%d bytes were kept for them, more than %d", most, roomBytes)
	}
}

// programOf returns the key of a large program of the one run of s.
func programOf(t testing.TB, s *Server) string {
	t.Helper()
	var st runState
	until(t, "the run has a program", func() bool { st = state(t, s, only(t, s), ""); return len(st.Best) > 0 })
	return st.Children.Program[st.Best[0]]
}

// Nothing that a Server began is left after Close, whatever its readers do.
func TestNothingOutlivesClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	wide(t, path, 1<<19, nil)
	if list := serversGoroutines(); len(list) > 0 {
		t.Fatalf("an earlier test has left %q", list)
	}
	s, err := NewServer(ServerConfig{pace: fast})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(""); err != nil {
		t.Fatal(err)
	}
	large := "/api/program?run=" + only(t, s) + "&key=" + programOf(t, s)
	listen(t, s)
	deaf(t, s, large)
	deaf(t, s, "/api/events")
	if list := serversGoroutines(); len(list) < 5 {
		t.Errorf("the goroutines of a Server at work are not seen: %q", list)
	}
	silent, err := net.Dial("tcp", request(t, s, "/").URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	// net/http does not wait for the last steps of a connection, after which nothing of the Server is called.
	until(t, "all goroutines have ended", func() bool { return len(serversGoroutines()) == 0 })
	if _, err := s.Listen(""); err == nil {
		t.Error("a closed Server listens")
	}
}

// serversGoroutines returns where goroutines are that a Server began.
func serversGoroutines() (list []string) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		for _, of := range []string{"view.(*Server)", "view.(*reading)", "http.(*Server)", "http.(*conn)"} {
			if strings.Contains(stack, of) {
				list = append(list, stack)
				break
			}
		}
	}
	return list
}
