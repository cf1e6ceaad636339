package js

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A machine is one QuickJS virtual machine in memory of its own. It is made once and then used for one program after
// another: reset writes back its initial bytes, which takes a tenth of the time of making another and cannot miss
// anything. One goroutine at a time uses it.
type machine struct {
	resources
	heap               *heap
	rt, ctx            uintptr
	limit              int // bytes that a program may use
	console            *console
	encoder, describer lib.TJSValue // functions of prelude.js
	scratch            uintptr      // in mem: room for an argument, or for a result that comes through a pointer
	initial            []byte       // mem up to heap.top, as it was when the machine was new
	cleanup            runtime.Cleanup
}

//go:embed prelude.js
var prelude string

const (
	reserveBytes = 4 << 20 // for the result, or an error, once the program has used up the rest
	maxDepth     = 5000    // of calls
	maxOutput    = 1 << 20 // bytes of the result as JSON
	maxProgram   = 256 << 10
)

// newMachine makes a machine whose programs may use limit bytes and draw from the stream seeded by seed.
func newMachine(limit int, seed uint64) (*machine, error) {
	mem, err := reserve(limit + limit/8 + reserveBytes) // with what sizes of blocks are rounded up by
	if err != nil {
		return nil, fmt.Errorf("js: reserving memory for a virtual machine: %w", err)
	}
	m := &machine{resources: resources{mem, libc.NewTLS()}, heap: newHeap(mem), limit: limit}
	m.heap.end -= reserveBytes
	m.cleanup = runtime.AddCleanup(m, resources.free, m.resources)
	if err := m.boot(limit, seed); err != nil {
		m.discard()
		return nil, err
	}
	m.initial = append([]byte(nil), mem[:m.touched()]...)
	return m, nil
}

// boot starts the engine in m's empty memory and runs prelude.js.
func (m *machine) boot(limit int, seed uint64) error {
	functions := at[lib.TJSMallocFunctions](m.heap.alloc(unsafe.Sizeof(lib.TJSMallocFunctions{})))
	*functions = lib.TJSMallocFunctions{
		Fjs_malloc: entryPoint(heapAlloc), Fjs_free: entryPoint(heapFree),
		Fjs_realloc: entryPoint(heapRealloc), Fjs_malloc_usable_size: entryPoint(heapUsable),
	}
	m.scratch = m.heap.alloc(unsafe.Sizeof(undefined))
	m.console = at[console](m.heap.alloc(unsafe.Sizeof(console{})))
	m.rt = lib.XJS_NewRuntime2(m.tls, uintptr(unsafe.Pointer(functions)), uintptr(unsafe.Pointer(m.heap)))
	lib.XJS_SetRuntimeOpaque(m.tls, m.rt, uintptr(unsafe.Pointer(m.console)))
	lib.XJS_SetGCThreshold(m.tls, m.rt, lib.Tsize_t(limit/4))
	lib.XJS_SetCanBlock(m.tls, m.rt, 0)
	m.ctx = lib.XJS_NewContext(m.tls, m.rt)
	at[lib.TJSContext](m.ctx).Frandom_state = randomState(seed)
	native := func(f any) lib.TJSValue {
		return lib.XJS_NewCFunction2(m.tls, m.ctx, entryPoint(f), m.cString(""), 1, lib.EJS_CFUNC_generic, 0)
	}
	args := at[[3]lib.TJSValue](m.heap.alloc(unsafe.Sizeof([3]lib.TJSValue{})))
	*args = [...]lib.TJSValue{native(consolePrint), native(numbers), lib.XNewInt32(m.tls, m.ctx, maxOutput)}
	setup := m.eval(prelude, "prelude.js", lib.MJS_EVAL_TYPE_GLOBAL)
	tools := lib.XJS_Call(m.tls, m.ctx, setup, undefined, 3, uintptr(unsafe.Pointer(args)))
	if tag(tools) != lib.EJS_TAG_OBJECT {
		return errors.New("js: the engine did not start")
	}
	m.encoder = lib.XJS_GetPropertyUint32(m.tls, m.ctx, tools, 0)
	m.describer = lib.XJS_GetPropertyUint32(m.tls, m.ctx, tools, 1)
	return nil
}

// touched returns how many bytes of m's memory were in use at most since it was made.
func (m *machine) touched() int { return int(m.heap.top - uintptr(unsafe.Pointer(m.heap))) }

// reset restores m's initial state, except for memory that no program can read.
func (m *machine) reset() { copy(m.mem, m.initial) }

// openReserve lets m use the memory that is kept from programs.
func (m *machine) openReserve() {
	m.heap.end = uintptr(unsafe.Pointer(m.heap)) + uintptr(len(m.mem))
}

// discard frees m's memory. m must not be used afterwards.
func (m *machine) discard() {
	m.cleanup.Stop()
	m.resources.free()
}

// resources are those of a machine that Go does not free by itself.
type resources struct {
	mem []byte // the mapping; everything the engine allocates for its runtime is in it
	tls *libc.TLS
}

func (r resources) free() {
	r.tls.Close()
	_ = unreserve(r.mem) // fails only for memory that is not mapped
}

// eval compiles source and, unless flags say otherwise, runs it.
func (m *machine) eval(source, file string, flags int32) lib.TJSValue {
	return lib.XJS_Eval(m.tls, m.ctx, m.cString(source), lib.Tsize_t(len(source)), m.cString(file), flags)
}

// cString copies s into m's memory with a zero after it, and returns its address.
func (m *machine) cString(s string) uintptr {
	p := m.heap.alloc(uintptr(len(s)) + 1)
	copy(bytesAt(p, uintptr(len(s))+1), s+"\x00")
	return p
}

// call calls f, a function of prelude.js, with v and returns the string that it returned, in UTF-8 except for halves of
// surrogate pairs. It reports false if f threw.
func (m *machine) call(f, v lib.TJSValue) ([]byte, bool) {
	*at[lib.TJSValue](m.scratch) = v
	s := lib.XJS_Call(m.tls, m.ctx, f, undefined, 1, m.scratch)
	if tag(s) == lib.EJS_TAG_EXCEPTION {
		return nil, false
	}
	p := lib.XJS_ToCStringLen2(m.tls, m.ctx, m.scratch, s, 0)
	return bytes.Clone(bytesAt(p, uintptr(*at[lib.Tsize_t](m.scratch)))), p != 0
}

// entryPoint returns the address by which translated C code calls f, a function: the second word of an interface value.
func entryPoint(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// undefined is JavaScript's undefined.
var undefined = lib.TJSValue{Ftag: lib.EJS_TAG_UNDEFINED}

// tag returns which of the engine's kinds of value v is: one of the EJS_TAG_ constants.
func tag(v lib.TJSValue) int32       { return int32(v.Ftag) }
func toFloat(v lib.TJSValue) float64 { return math.Float64frombits(v.Fu.Fuint641) }
func toInt(v lib.TJSValue) int32     { return int32(v.Fu.Fuint641) }
func pointer(v lib.TJSValue) uintptr { return uintptr(v.Fu.Fuint641) }
