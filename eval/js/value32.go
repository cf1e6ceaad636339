//go:build 386 || arm

package js

import (
	"math"

	lib "modernc.org/libquickjs"
)

// On 32-bit machines the engine packs a value into 64 bits: the tag above, the payload below, and a
// float in the bit patterns that no tag uses, moved by floatOffset.
const floatOffset = (0x7ff80000 - lib.EJS_TAG_FIRST + 1) << 32

// undefined is JavaScript's undefined.
const undefined = lib.TJSValue(lib.EJS_TAG_UNDEFINED << 32)

// exception is what engine functions return after they threw.
const exception = lib.TJSValue(lib.EJS_TAG_EXCEPTION << 32)

// tag returns which of the engine's kinds of value v is: one of the EJS_TAG_ constants.
func tag(v lib.TJSValue) int32 {
	first := int32(lib.EJS_TAG_FIRST)
	t := int32(v >> 32)
	if uint32(t)-uint32(first) >= lib.EJS_TAG_FLOAT64-lib.EJS_TAG_FIRST {
		return lib.EJS_TAG_FLOAT64
	}
	return t
}

func toFloat(v lib.TJSValue) float64   { return math.Float64frombits(v + floatOffset) }
func toInt(v lib.TJSValue) int32       { return int32(v) }
func toPointer(v lib.TJSValue) uintptr { return uintptr(uint32(v)) }
