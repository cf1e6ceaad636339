package view

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/record"

	"github.com/evoalloc/evoalloc/llm"
)

// killedPath is the variable that makes TestKilledProcess a run to be killed: the path of its journal.
const killedPath = "EVOALLOC_VIEW_KILLED"

// slow is thinker behind an endpoint that takes its time, so that a kill finds calls under way.
var slow = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
	time.Sleep(20 * time.Millisecond)
	return thinker(ctx, req)
})

// killedTrial is a run that is killed and goes on.
func killedTrial(path string) trial {
	return trial{path: path, arms: 2, n: 4, rounds: 12, model: slow, judge: opinion}
}

// TestKilledProcess is the process that TestKilledRunIsOneHistory kills. It does nothing in any other.
func TestKilledProcess(t *testing.T) {
	path := os.Getenv(killedPath)
	if path == "" {
		t.Skip("it is not started to be killed")
	}
	killedTrial(path).run(t)
}

// kill makes a part of the run in a process of its own, and kills that with calls under way, once its journal has so
// many more children.
func kill(t *testing.T, path string, children int) {
	t.Helper()
	was, _, parts := progress(path)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	cmd.Env = append(os.Environ(), killedPath+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if n, open, part := progress(path); part > parts && n >= was+children && open > 0 {
			return
		}
	}
	t.Error("the run made no children")
}

// progress returns how many children a journal has, how many calls its last process has under way, and how many
// processes worked on it.
func progress(path string) (children, open, parts int) {
	var calls map[[2]any]bool
	for r, err := range record.Read(path) {
		switch {
		case err != nil:
		case r.Kind == record.Incarnation:
			parts, calls = parts+1, make(map[[2]any]bool)
		case r.Kind == record.Child:
			children++
		case r.Kind == record.Begin:
			calls[[2]any{r.Key, r.N}] = true
		case r.Kind == record.Completion, r.Kind == record.Failure:
			delete(calls, [2]any{r.Key, r.N})
		}
	}
	return children, len(calls), parts
}

// A run that is killed twice and goes on is one history: each child once, all that was paid for, the lost calls named,
// and no time in which nothing ran.
func TestKilledRunIsOneHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	kill(t, path, 6)
	if s := read(t, path).State(rowCursor{}); s.Status != "stopped" || s.Flying == 0 {
		t.Errorf("after a kill the status is %q with %d calls under way", s.Status, s.Flying)
	}
	const pause = 300 // milliseconds
	time.Sleep(pause * time.Millisecond)
	kill(t, path, 10)
	res := killedTrial(path).run(t)
	s := read(t, path).State(rowCursor{})
	compareSums(t, s, res)
	lost := 0
	for _, n := range s.Messages {
		if n.Kind == "lost" {
			lost += n.Count
		}
	}
	if lost == 0 || lost != len(res.Earlier.Lost) {
		t.Errorf("%d lost calls in the messages, %d in the result", lost, len(res.Earlier.Lost))
	}
	if took, all := s.Children.Time[len(s.Children.Time)-1], s.Now-s.Begun; all-took < pause {
		t.Errorf("the last child came after %d ms of %d, of which nothing ran in %d", took, all, pause)
	}
	for _, f := range s.Facts {
		if f.Name == "Time" && !strings.HasPrefix(f.Note, "in 3 parts") {
			t.Errorf("the time is %q, %q", f.Value, f.Note)
		}
	}
}
