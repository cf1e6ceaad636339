package js

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/evoalloc/evoalloc/eval"
)

// spin reads mem for ever.
func spin(mem []byte) {
	for {
		_ = *(*byte)(unsafe.Pointer(unsafe.SliceData(mem)))
		sink += mem[len(mem)-1]
	}
}

var sink byte

func TestGuard(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		why   string
		ctx   context.Context
		limit time.Duration
		f     func(mem []byte)
		check func(err error) bool
	}{
		{"ends by itself", context.Background(), time.Hour, func([]byte) {}, func(err error) bool { return err == nil }},
		{"runs on", context.Background(), time.Millisecond, spin, func(err error) bool { return err == errTimeLimit }},
		{"canceled", canceled, time.Hour, spin, func(err error) bool { return err == context.Canceled }},
		{"panics", context.Background(), time.Hour, func([]byte) { panic("boo") }, isFault("boo")},
		{"follows a null pointer", context.Background(), time.Hour, func([]byte) { *(*int)(nil) = 1 },
			isFault("nil pointer")},
		{"follows a wild pointer", context.Background(), time.Hour,
			func([]byte) { *(*int)(unsafe.Add(nil, uintptr(1)<<20)) = 1 }, isFault("invalid memory address")},
	} {
		t.Run(c.why, func(t *testing.T) {
			mem, err := reserve(1 << 16)
			if err != nil {
				t.Fatal(err)
			}
			g := &guard{mem: mem}
			if err := g.run(c.ctx, limits{wall: c.limit}, func() { c.f(mem) }); !c.check(err) {
				t.Errorf("error %v", err)
			}
			g.stop(errTimeLimit) // a timer that fires late must not reach memory that is in use again
			mem[0] = 1
			if err := unreserve(mem); err != nil {
				t.Error(err)
			}
		})
	}
}

func isFault(text string) func(error) bool {
	return func(err error) bool {
		var f *fault
		return errors.As(err, &f) && strings.Contains(f.Error(), text) && len(f.stack) > 0
	}
}

// TestBrokenEngine damages a machine as an error of the engine would.
func TestBrokenEngine(t *testing.T) {
	r, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.machine()
	if err != nil {
		t.Fatal(err)
	}
	// Reset is made to bring back a machine whose global object is at a null address.
	object := m.offset(uint64(uintptr(unsafe.Pointer(&m.context().Fglobal_obj))))
	clear(m.initial[object : object+8])
	r.keep(m)
	runtime.KeepAlive(m)
	for range 100 { // the pool may drop the machine or give another
		_, err = r.Run(context.Background(), `function entry() { return 1 }`, "entry")
		if err != nil {
			break
		}
		if m, err = r.machine(); err != nil {
			t.Fatal(err)
		}
		clear(m.initial[object : object+8])
		r.keep(m)
	}
	var wrong *eval.ProgramError
	if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Reason, "broke the JavaScript engine: ") ||
		wrong.Artifacts["stack"] == "" {
		t.Fatalf("error %v, want that the engine broke, with a stack", err)
	}
	if out, err := r.Run(context.Background(), `function entry() { return 1 }`, "entry"); err != nil ||
		string(out) != "1" {
		t.Errorf("afterwards: %s, error %v", out, err)
	}
}

// mapped returns the size of the process's address space, or 0 where it cannot tell.
func mapped(t *testing.T) (bytes int) {
	t.Helper()
	var pages int
	if n, err := readProc(&pages); err != nil || n == 0 {
		return 0
	}
	return pages * 4096
}

// TestNothingLeaks ends many programs in every way and looks for what they left.
func TestNothingLeaks(t *testing.T) {
	const memory = 128 << 20 // of address space, so that a few machines that stay are seen
	r, err := New(Config{Timeout: 5 * time.Millisecond, MemoryLimit: memory})
	if err != nil {
		t.Fatal(err)
	}
	programs := []string{
		`function entry() { return 1 }`,
		`function entry() { for (;;); }`,
		`function entry() { throw 1 }`,
		`function entry() { return [].indexOf.call({ length: 2 ** 53 - 1 }, 1) }`,
		`function entry() { const a = []; for (;;) a.push(new Float64Array(1e4)) }`,
		`function entry() { (function f() { try { f() } catch { f() } })() }`,
		`function entry() {`,
	}
	round := func() {
		for _, p := range programs {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(len(p))*100*time.Microsecond)
			_, _ = r.Run(ctx, p, "entry")
			cancel()
		}
	}
	round()
	goroutines, before := runtime.NumGoroutine(), mapped(t)
	for range 12 {
		round()
	}
	for i := 0; runtime.NumGoroutine() > goroutines && i < 60_000; i++ {
		time.Sleep(time.Millisecond) // timers that fired late are on their way out
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if grown := mapped(t) - before; grown > 4*memory {
		t.Errorf("the process grew by %d MiB, more than four machines", grown>>20)
	}
}

// TestIdleMachinesAreFreed drops a runner and waits for its machine's memory to go.
func TestIdleMachinesAreFreed(t *testing.T) {
	const memory = 64 << 20
	before := mapped(t)
	for range 20 {
		r, err := New(Config{MemoryLimit: memory})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(context.Background(), `function entry() { return 1 }`, "entry"); err != nil {
			t.Fatal(err)
		}
	}
	grown := 0
	for range 10_000 {
		runtime.GC()
		if grown = mapped(t) - before; grown < 5*memory {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("the process grew by %d MiB: 20 idle machines of %d MiB", grown>>20, memory>>20)
}

// readProc reads the size of the address space in pages, on Linux.
func readProc(pages *int) (int, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	return fmt.Sscan(string(b), pages)
}
