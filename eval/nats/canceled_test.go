package nats

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
)

// A job is not begun if its cancellation is read before it. The same program queued again, or by another run, is
// begun.
func TestACancellationIsReadBeforeItsJob(t *testing.T) {
	task := Task{Name: "cp", Digest: "0123456789abcdef"}
	w, err := NewWorker(WorkerConfig{Task: task, Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	begins := func(run string, sequence int) bool {
		m := &nats.Msg{Sub: &nats.Subscription{}, Reply: fmt.Sprintf("$JS.ACK.JOBS.%s.1.%d.1.0.0", run, sequence)}
		ctx, r := w.begin(t.Context(), m, job{Task: task, Key: "key", Run: run})
		defer w.end(r)
		return ctx.Err() == nil && !w.isCanceled(r)
	}
	cancel := func(gone cancellation) {
		text, _ := json.Marshal(gone)
		w.hearCancellation(&nats.Msg{Data: text})
	}
	gone := cancellation{Digest: task.Digest, Key: "key", Run: "a", Sequence: 7}
	if !begins("a", 7) {
		t.Error("it is canceled before its cancellation")
	}
	cancel(gone)
	if begins("a", 7) {
		t.Error("it is begun")
	}
	if !begins("a", 8) || !begins("a", 3) || !begins("b", 7) {
		t.Error("one that was queued again, also by a server that begins its streams anew, or by another run, is not begun")
	}
	for i := range rememberAll {
		gone.Key = fmt.Sprint(i)
		cancel(gone)
	}
	if n := len(w.cancellations.latest); n != rememberAll {
		t.Errorf("%d are remembered", n)
	}
}
