package js

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A console holds the beginning of a program's output. It lies in the machine's memory, where it can be read after the
// engine was stopped.
type console struct {
	n    uint64
	text [consoleBytes]byte
}

const consoleBytes = 4 << 10

func newConsole(h *heap) *console {
	c := consoleAt(uintptr(h.alloc(uint64(unsafe.Sizeof(console{})))))
	*c = console{}
	return c
}

func consoleAt(p uintptr) *console { return (*console)(unsafe.Add(nil, p)) }

// String returns the output.
func (c *console) String() string { return string(c.text[:min(c.n, consoleBytes)]) }

func (c *console) write(b []byte) { c.n += uint64(copy(c.text[min(c.n, consoleBytes):], b)) }

// consoleLog implements console.log and its variants: it writes its arguments as strings, separated by spaces and ended
// by a newline. The engine calls it.
func consoleLog(tls *libc.TLS, ctx uintptr, _ lib.TJSValue, argc int32, argv uintptr) lib.TJSValue {
	c := consoleAt(lib.XJS_GetRuntimeOpaque(tls, (*lib.TJSContext)(unsafe.Add(nil, ctx)).Frt))
	if c.n == consoleBytes {
		return undefined
	}
	for i, arg := range unsafe.Slice((*lib.TJSValue)(unsafe.Add(nil, argv)), argc) {
		s := lib.XJS_ToCStringLen2(tls, ctx, 0, arg, 0)
		if s == 0 {
			return exception
		}
		if i > 0 {
			c.write([]byte{' '})
		}
		c.write(unsafe.Slice((*byte)(unsafe.Add(nil, s)), libc.Xstrlen(tls, s)))
		lib.XJS_FreeCString(tls, ctx, s)
	}
	c.write([]byte{'\n'})
	return undefined
}
