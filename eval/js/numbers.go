package js

import (
	"math"
	"strconv"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// numbers returns its argument as JSON if that is a finite number, an array of such, or an array of those, and
// undefined otherwise. It does in a fifth of the time what prelude.js does for all values. The engine calls it.
func numbers(tls *libc.TLS, ctx uintptr, _ lib.TJSValue, _ int32, argv uintptr) lib.TJSValue {
	out := appendNumbers(nil, tls, ctx, *at[lib.TJSValue](argv), 0)
	if out == nil {
		return undefined
	}
	h := at[heap](at[lib.TJSRuntime](at[lib.TJSContext](ctx).Frt).Fmalloc_ctx.Fmalloc_state.Fopaque)
	p := h.alloc(uintptr(len(out))) // a copy, as the engine must not see Go's memory
	if p == 0 {
		return undefined
	}
	defer h.release(p)
	copy(bytesAt(p, uintptr(len(out))), out)
	return lib.XJS_NewStringLen(tls, ctx, p, lib.Tsize_t(len(out)))
}

// appendNumbers appends v to out, or returns nil.
func appendNumbers(out []byte, tls *libc.TLS, ctx uintptr, v lib.TJSValue, depth int) []byte {
	switch f := toFloat(v); {
	case tag(v) == lib.EJS_TAG_INT:
		return strconv.AppendInt(out, int64(toInt(v)), 10)
	case tag(v) == lib.EJS_TAG_FLOAT64 && !math.IsNaN(f) && !math.IsInf(f, 0):
		return strconv.AppendFloat(out, f, 'g', -1, 64)
	case tag(v) != lib.EJS_TAG_OBJECT || at[lib.TJSObject](pointer(v)).Fclass_id != lib.EJS_CLASS_ARRAY || depth == 2:
		return nil
	}
	length := lib.XGetProperty(tls, ctx, v, lib.EJS_ATOM_length)
	if tag(length) != lib.EJS_TAG_INT {
		return nil
	}
	out = append(out, '[')
	for i := range uint32(toInt(length)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumbers(out, tls, ctx, lib.XJS_GetPropertyUint32(tls, ctx, v, i), depth+1)
		if out == nil || len(out) > maxOutput {
			return nil
		}
	}
	return append(out, ']')
}
