package js

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"

	"github.com/evoalloc/evoalloc/eval"
)

func newTestMachine(t testing.TB) *machine {
	t.Helper()
	m, err := newMachine(4<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.discard)
	return m
}

func TestGuard(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	var sink byte
	spin := func(mem []byte) {
		for {
			sink += mem[len(mem)-1]
		}
	}
	for _, c := range []struct {
		why   string
		ctx   context.Context
		limit time.Duration
		f     func(mem []byte)
		want  string
	}{
		{"ends by itself", t.Context(), time.Hour, func([]byte) {}, "<nil>"},
		{"runs on", t.Context(), time.Millisecond, spin, "ran longer than 1ms"},
		{"canceled", canceled, time.Hour, spin, "js: stopped: context canceled"},
		{"panics", t.Context(), time.Hour, func([]byte) { panic("boo") }, "broke the JavaScript engine: boo"},
		{"follows a null pointer", t.Context(), time.Hour, func([]byte) { *(*int)(nil) = 1 }, "nil pointer"},
		{"follows a wild pointer", t.Context(), time.Hour, func([]byte) { *at[int](1 << 20) = 1 }, "invalid memory"},
	} {
		t.Run(c.why, func(t *testing.T) {
			mem, err := reserve(1 << 16)
			if err != nil {
				t.Fatal(err)
			}
			err = guard{mem: mem, wall: c.limit}.run(c.ctx, func() { c.f(mem) })
			if !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			mem[0] = 1 // accessible again
			if err := unreserve(mem); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a program waits for a processor does not count: only its own time stops it.
func TestProcessorTime(t *testing.T) {
	mem, err := reserve(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begin, used := time.Now(), time.Duration(0)
		err := guard{mem, time.Hour, time.Second}.watch(t.Context(), func() time.Duration {
			if time.Since(begin) > time.Minute {
				used = time.Second
			}
			return used
		}, nil)
		if fmt.Sprint(err) != "took more than 1s of processor time" || time.Since(begin) > 2*time.Minute {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
	})
	if err := unreserve(mem); err != nil {
		t.Error(err)
	}
}

// TestBrokenEngine damages a machine as an error of the engine would.
func TestBrokenEngine(t *testing.T) {
	m := newTestMachine(t)
	at[lib.TJSContext](m.ctx).Fglobal_obj = lib.TJSValue{Ftag: lib.EJS_TAG_OBJECT} // at a null address
	err := guard{mem: m.mem, wall: time.Hour}.run(t.Context(), func() { _, _ = m.execute("x = 1", "entry") })
	var bad *eval.ProgramError
	if !errors.As(err, &bad) || !strings.HasPrefix(bad.Reason, "broke the ") || bad.Artifacts["stack"] == "" {
		t.Errorf("error %v, want that the engine broke, with a stack", err)
	}
}

// TestEachBoundIsNeeded turns off one bound after the other and shows what programs can do then.
func TestEachBoundIsNeeded(t *testing.T) {
	run := func(m *machine, body string) string {
		out, err := m.execute("function entry() {"+body+"}", "entry")
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	wide := "let n = 0; function f() { n++; f(" + strings.Repeat("1,", 500) + "1) } try { f() } catch {} return n > 1000"
	for _, c := range []struct {
		why, body, on, off string
		prelude            string
		disable            func(m *machine)
	}{
		{"the size of frames", wide, "false", "true", prelude, func(m *machine) { m.limit = 1 << 40 }},
		{"the end of memory", `const a = []; try { for (;;) a.push(new Float64Array(1e4)) } catch {} return a.length > 60`,
			"false", "true", prelude, func(m *machine) { m.openReserve() }},
		{"no iterator helpers", `let i = [7].values(); for (let k = 0; k < 6e3; k++) i = i.take(9); return i.next().value`,
			"threw TypeError: not a function", "7",
			strings.Replace(prelude, "delete iterators[name]", "", 1), func(m *machine) {}},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := run(newTestMachine(t), c.body); !strings.HasPrefix(got, c.on) {
				t.Errorf("with the bound: %s, want %s", got, c.on)
			}
			defer func(was string) { prelude = was }(prelude)
			prelude = c.prelude
			m := newTestMachine(t)
			c.disable(m)
			if got := run(m, c.body); got != c.off {
				t.Errorf("without the bound: %s, want %s", got, c.off)
			}
		})
	}

	t.Run("reset", func(t *testing.T) {
		m := newTestMachine(t)
		const body = "globalThis.n = (globalThis.n ?? 0) + 1; return n"
		compiler := at[lib.TJSContext](m.ctx).Feval_internal
		first := run(m, body)
		at[lib.TJSContext](m.ctx).Feval_internal = compiler // or nothing would run
		second := run(m, body)
		m.reset()
		if third := run(m, body); first != "1" || second != "2" || third != "1" {
			t.Errorf("%s, then %s, then %s after a reset", first, second, third)
		}
	})
	t.Run("the guard", func(t *testing.T) {
		m := newTestMachine(t)
		asked := m.heap.alloc(8)
		lib.XJS_SetInterruptHandler(m.tls, m.rt, entryPoint(polls), asked)
		*at[int](asked) = 0
		if run(m, "[].indexOf.call({ length: 3e5 }, 1)"); *at[int](asked) != 0 {
			t.Error("the engine asked in a built-in function whether it should stop: its interrupts may suffice")
		}
		m.reset()
		lib.XJS_SetInterruptHandler(m.tls, m.rt, entryPoint(polls), asked)
		if run(m, "for (let i = 0; i < 3e5; i++);"); *at[int](asked) == 0 {
			t.Error("the engine never asked whether it should stop: the test shows nothing")
		}
	})
}

// polls counts how often the engine asks whether it should stop.
func polls(_ *libc.TLS, _, n uintptr) int32 {
	*at[int](n)++
	return 0
}

// TestHeap allocates, resizes and frees at random and checks that nothing changes under its holder, also once the heap
// is full.
func TestHeap(t *testing.T) {
	for _, size := range []int{16 << 20, 48 << 10} {
		mem, err := reserve(size)
		if err != nil {
			t.Fatal(err)
		}
		h, r, held := newHeap(mem), rand.New(rand.NewPCG(1, 2)), map[uintptr]string{}
		hold := func(p uintptr, n int) {
			held[p] = strings.Repeat(string(rune('a'+r.IntN(26))), n)
			copy(bytesAt(p, uintptr(n)), held[p])
		}
		for range 5000 {
			n := r.IntN(1 << (1 + r.IntN(13)))
			if p := h.alloc(uintptr(n)); p != 0 {
				hold(p, n)
			}
			for p, was := range held { // any of them
				if string(bytesAt(p, uintptr(len(was)))) != was {
					t.Fatal("memory changed under its holder")
				}
				q := h.resize(p, uintptr(n))
				if kept := min(n, len(was)); q != 0 && string(bytesAt(q, uintptr(kept))) != was[:kept] {
					t.Fatal("what was resized lost its contents")
				}
				delete(held, p)
				if q == 0 {
					h.release(p)
				} else if hold(q, n); r.IntN(2) == 0 {
					h.release(q)
					delete(held, q)
				}
				break
			}
		}
		if crowded := size < 1<<20; (h.denied > 0) != crowded {
			t.Errorf("of %d bytes %d requests were refused", size, h.denied)
		}
		for p := range held {
			h.release(p)
		}
		if h.alloc(uintptr(size)/2) == 0 || h.alloc(uintptr(size)) != 0 || h.alloc(1<<63) != 0 {
			t.Errorf("of %d free bytes a half is refused, or more than there is is not", size)
		}
		if err := unreserve(mem); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingLeaks ends programs in every way, drops runners, and looks for what is left of either.
func TestNothingLeaks(t *testing.T) {
	const memory = 128 << 20 // of address space, so that a few machines that stay are seen
	mapped := func() (pages int) {
		if b, err := os.ReadFile("/proc/self/statm"); err == nil { // or the system has none
			_, _ = fmt.Sscan(string(b), &pages)
		}
		return 4096 * pages
	}
	round := func() {
		r, err := New(Config{Timeout: 5 * time.Millisecond, MemoryLimit: memory})
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{"return 1", "throw 1", "for (;;);", "{", "let a = ['x']; for (;;) a = [...a, ...a]"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(body))*100*time.Microsecond)
			_, _ = r.Run(ctx, "function entry() {"+body+"}", "entry")
			cancel()
		}
	}
	round()
	goroutines, before, grown := runtime.NumGoroutine(), mapped(), 0
	for range 12 {
		round()
	}
	for range 10_000 { // idle machines go with the pool
		runtime.GC()
		if grown = mapped() - before; grown < 4*memory && runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("the process grew by %d MiB and %d goroutines", grown>>20, runtime.NumGoroutine()-goroutines)
}
