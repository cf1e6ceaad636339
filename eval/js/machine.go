package js

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A machine is one QuickJS virtual machine in memory of its own. It is made once and then used for one program after
// another: reset writes back its initial bytes, which takes a tenth of the time of making another and cannot miss
// anything. One goroutine at a time uses it.
type machine struct {
	mem     []byte // the mapping; everything the engine allocates for its runtime is in it
	heap    *heap
	tls     *libc.TLS
	rt, ctx uintptr
	console *console
	initial []byte // mem up to heap.top, as it was when the machine was new
	scratch uint64 // in mem: room for the results that the engine returns through pointers
	cleanup runtime.Cleanup
}

//go:embed prelude.js
var prelude string

// reserveBytes is kept from the program, so that an error can be read after the program used up the rest.
const reserveBytes = 256 << 10

// newMachine makes a machine with the given limits; its programs draw from the stream seeded by seed.
func newMachine(limit, stack int, seed uint64) (*machine, error) {
	mem, err := reserve(limit + reserveBytes)
	if err != nil {
		return nil, fmt.Errorf("js: reserving %d bytes for a virtual machine: %w", limit+reserveBytes, err)
	}
	m := &machine{mem: mem, heap: newHeap(mem), tls: libc.NewTLS()}
	m.cleanup = runtime.AddCleanup(m, discard, resources{m.mem, m.tls})
	if err := m.boot(limit, stack, seed); err != nil {
		m.discard()
		return nil, err
	}
	m.heap.end -= reserveBytes
	m.initial = append([]byte(nil), mem[:m.offset(m.heap.top)]...)
	return m, nil
}

// boot starts the engine in m's empty memory.
func (m *machine) boot(limit, stack int, seed uint64) error {
	functions := (*lib.TJSMallocFunctions)(unsafe.Add(nil,
		uintptr(m.heap.alloc(uint64(unsafe.Sizeof(lib.TJSMallocFunctions{}))))))
	*functions = lib.TJSMallocFunctions{
		Fjs_malloc: entryPoint(heapAlloc), Fjs_free: entryPoint(heapFree),
		Fjs_realloc: entryPoint(heapRealloc), Fjs_malloc_usable_size: entryPoint(heapUsable),
	}
	m.scratch = m.heap.alloc(64)
	m.console = newConsole(m.heap)
	m.rt = lib.XJS_NewRuntime2(m.tls, uintptr(unsafe.Pointer(functions)), uintptr(unsafe.Pointer(m.heap)))
	if m.rt == 0 {
		return errors.New("js: the engine did not start")
	}
	lib.XJS_SetRuntimeOpaque(m.tls, m.rt, uintptr(unsafe.Pointer(m.console)))
	lib.XJS_SetGCThreshold(m.tls, m.rt, lib.Tsize_t(limit/4))
	lib.XJS_SetMaxStackSize(m.tls, m.rt, lib.Tsize_t(stack))
	lib.XJS_SetCanBlock(m.tls, m.rt, 0)
	if m.ctx = lib.XJS_NewContext(m.tls, m.rt); m.ctx == 0 {
		return errors.New("js: the engine did not start: no context")
	}
	m.context().Frandom_state = seed
	return m.prelude()
}

// prelude runs prelude.js.
func (m *machine) prelude() error {
	setup := m.eval(prelude, "prelude.js", lib.MJS_EVAL_TYPE_GLOBAL)
	args := m.heap.alloc(uint64(unsafe.Sizeof(undefined)))
	*(*lib.TJSValue)(unsafe.Add(nil, uintptr(args))) = lib.XJS_NewCFunction2(m.tls, m.ctx, entryPoint(consoleLog),
		m.cString("log"), 0, lib.EJS_CFUNC_generic, 0)
	if tag(lib.XJS_Call(m.tls, m.ctx, setup, undefined, 1, uintptr(args))) == lib.EJS_TAG_EXCEPTION {
		return fmt.Errorf("js: the prelude failed: %w", m.thrown())
	}
	return nil
}

// context returns the engine's own record of m's context.
func (m *machine) context() *lib.TJSContext {
	return (*lib.TJSContext)(unsafe.Add(nil, m.ctx))
}

// offset returns how far into m's memory the address p is.
func (m *machine) offset(p uint64) int {
	return int(p - uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.mem)))))
}

// touched returns how many bytes of m's memory were in use at most since it was made.
func (m *machine) touched() int { return m.offset(m.heap.peak) }

// reset restores m's initial state, except for memory that no program can read.
func (m *machine) reset() { copy(m.mem, m.initial) }

// discard frees m's memory. m must not be used afterwards.
func (m *machine) discard() {
	m.cleanup.Stop()
	discard(resources{m.mem, m.tls})
}

// resources are those of a machine that Go does not free by itself.
type resources struct {
	mem []byte
	tls *libc.TLS
}

func discard(r resources) {
	r.tls.Close()
	// This fails only for memory that is not mapped, and then there is none to free.
	_ = unreserve(r.mem)
}

// eval compiles source and, unless flags say otherwise, runs it.
func (m *machine) eval(source, file string, flags int32) lib.TJSValue {
	return lib.XJS_Eval(m.tls, m.ctx, m.cString(source), lib.Tsize_t(len(source)), m.cString(file), flags)
}

// cString copies s into m's memory with a zero after it, and returns its address, or 0 if there is no room.
func (m *machine) cString(s string) uintptr {
	p := m.heap.alloc(uint64(len(s)) + 1)
	if p != 0 {
		b := m.heap.bytes(p, uint64(len(s))+1)
		b[copy(b, s)] = 0
	}
	return uintptr(p)
}

// text calls use with v converted to a string, in UTF-8 except for halves of surrogate pairs; the bytes are valid only
// during the call. It reports false if the conversion threw.
func (m *machine) text(v lib.TJSValue, use func([]byte)) bool {
	n := (*lib.Tsize_t)(unsafe.Add(nil, uintptr(m.scratch)))
	p := lib.XJS_ToCStringLen2(m.tls, m.ctx, uintptr(m.scratch), v, 0)
	if p == 0 {
		m.free(lib.XJS_GetException(m.tls, m.ctx))
		return false
	}
	use(m.heap.bytes(uint64(p), uint64(*n)))
	lib.XJS_FreeCString(m.tls, m.ctx, p)
	return true
}

// property returns object[name], or an exception.
func (m *machine) property(object lib.TJSValue, name string) lib.TJSValue {
	return lib.XJS_GetPropertyStr(m.tls, m.ctx, object, m.cString(name))
}

func (m *machine) free(v lib.TJSValue) { lib.XFreeValue(m.tls, m.ctx, v) }

// entryPoint returns the address by which translated C code calls f, a function of the package (no
// closure): the second word of an interface value that holds it.
func entryPoint(f any) uintptr {
	return (*[2]uintptr)(unsafe.Pointer(&f))[1]
}
