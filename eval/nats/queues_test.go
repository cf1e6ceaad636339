package nats

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// A slot waits at a queue where no other slot waits, while there is one.
func TestSlotsWaitApart(t *testing.T) {
	q, names := newQueues(), []string{"a", "b", "c", "d"}
	for _, name := range names {
		q.name(name, time.Now())
	}
	q.took("c")
	var held []string
	for i := range names {
		name, unseen := q.hold(t.Context())
		if want := 4; i < 3 && unseen != want || i == 3 && unseen != 0 {
			t.Errorf("slot %d: %d queues have no slot while it waits", i, unseen)
		}
		held = append(held, name)
	}
	if slices.Sort(held); !slices.Equal(held, names) {
		t.Errorf("four slots wait at %v", held)
	}
	fifth := make(chan string)
	go func() {
		name, _ := q.hold(t.Context())
		fifth <- name
	}()
	q.release("b")
	if name := <-fifth; name != "b" {
		t.Errorf("the fifth waits at %q, want the one that was left", name)
	}
}

// A worker answers a run's first call, then every few seconds, and at once when the number of its busy slots has
// changed or the run was started again.
func TestAnswersTo(t *testing.T) {
	w, err := NewWorker(WorkerConfig{Task: Task{Name: "cp", Digest: "0123456789abcdef"}, Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, tt := range []struct {
		after       time.Duration
		active      int
		incarnation string
		due, first  bool
	}{
		{0, 0, "a", true, true},
		{time.Second, 0, "a", false, false},
		{time.Second, 1, "a", true, false},
		{time.Second, 1, "a", false, false},
		{time.Second, 0, "a", true, false},
		{time.Second, 0, "b", true, false},
		{answerInterval, 0, "b", false, false},
		{time.Second, 0, "b", true, false},
	} {
		now = now.Add(tt.after)
		clear(w.active)
		for range tt.active {
			w.active[&activeJob{}] = true
		}
		busy, due, first := w.answerTo(call{Run: "run", Incarnation: tt.incarnation}, now)
		if got, want := fmt.Sprint(busy, due, first), fmt.Sprint(tt.active, tt.due, tt.first); got != want {
			t.Errorf("call %d: busy, due and first are %s, want %s", i, got, want)
		}
	}
}
