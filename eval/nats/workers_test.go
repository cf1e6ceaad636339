package nats

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// What a run makes of heartbeats, tick by tick.
func TestWorkersComeAndGo(t *testing.T) {
	const ours, others = "0123456789abcdef", "fedcba9876543210"
	w := newWorkers(ours)
	hear := func(from, name, digest string) {
		w.hear(&nats.Msg{Subject: "evoalloc.here.cp." + from, Data: fmt.Appendf(nil,
			`{"worker":%q,"digest":%q,"slots":4,"busy":1}`, name, digest)})
	}
	wait := func(n int) (alone time.Duration, ever bool) {
		for range n {
			alone, ever = w.tick(true)
		}
		return alone, ever
	}
	hear("A", "a", others)
	w.hear(&nats.Msg{Subject: "evoalloc.here.cp.A", Data: []byte("no JSON")})
	hear("A", "a", "no.digest")
	if alone, ever := wait(3); alone != 3*time.Second || ever || !slices.Equal(w.others(), []string{others}) {
		t.Errorf("with a worker of another version: alone for %v, ever served %v, others %v", alone, ever, w.others())
	}
	hear("A", "a", ours)
	hear("A", "b", ours)
	hear("B", "a", ours)
	hear("B", "a", ours)
	if n, slots, busy := w.count(); n != 3 || slots != 12 || busy != 3 || len(w.others()) != 0 {
		t.Errorf("%d workers, %d of %d slots busy, others %v", n, busy, slots, w.others())
	}
	if alone, ever := wait(silentTicks); alone != 0 || !ever {
		t.Errorf("with workers: alone for %v, ever %v", alone, ever)
	}
	hear("B", "a", ours)
	wait(1)
	if n, _, _ := w.count(); n != 1 {
		t.Errorf("%d workers after two were silent", n)
	}
	if alone, ever := wait(silentTicks + 1); alone != 2*time.Second || !ever {
		t.Errorf("after all were silent: alone for %v, ever %v", alone, ever)
	}
	if alone, _ := w.tick(false); alone != 0 {
		t.Errorf("alone for %v while nothing waits", alone)
	}
	for i := range maxWorkers + 10 {
		hear("liar", fmt.Sprint(i), ours)
	}
	if n, _, _ := w.count(); n != maxWorkers {
		t.Errorf("%d invented workers are noted", n)
	}
}
