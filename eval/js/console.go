package js

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A console holds the beginning of a program's output. It lies in the machine's memory, where it can be read after the
// engine was stopped.
type console struct {
	n, length lib.Tsize_t // bytes of text; bytes of the string that is being printed
	text      [4 << 10]byte
}

// consolePrint writes its argument, a string, and returns how many bytes are left. The engine calls it.
func consolePrint(tls *libc.TLS, ctx uintptr, _ lib.TJSValue, _ int32, argv uintptr) lib.TJSValue {
	c := at[console](lib.XJS_GetRuntimeOpaque(tls, at[lib.TJSContext](ctx).Frt))
	s := lib.XJS_ToCStringLen2(tls, ctx, uintptr(unsafe.Pointer(&c.length)), *at[lib.TJSValue](argv), 0)
	if s == 0 {
		return lib.XJS_Throw(tls, ctx, lib.XJS_GetException(tls, ctx))
	}
	c.n += lib.Tsize_t(copy(c.text[c.n:], bytesAt(s, uintptr(c.length))))
	lib.XJS_FreeCString(tls, ctx, s)
	return lib.XNewInt32(tls, ctx, int32(len(c.text))-int32(c.n))
}

// printed returns what m's program printed, or "" if m's memory cannot be read.
func (m *machine) printed() (text string) {
	_ = call(func() { text = string(m.console.text[:m.console.n]) })
	return text
}
