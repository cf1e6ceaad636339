//go:build !(386 || arm)

package js

import (
	"math"

	lib "modernc.org/libquickjs"
)

// undefined is JavaScript's undefined.
var undefined = lib.TJSValue{Ftag: lib.EJS_TAG_UNDEFINED}

// exception is what engine functions return after they threw.
var exception = lib.TJSValue{Ftag: lib.EJS_TAG_EXCEPTION}

// tag returns which of the engine's kinds of value v is: one of the EJS_TAG_ constants.
func tag(v lib.TJSValue) int32 { return int32(v.Ftag) }

// payload returns the bits of v that are not its tag.
func payload(v lib.TJSValue) uint64 { return v.Fu.Fuint641 }

func toFloat(v lib.TJSValue) float64   { return math.Float64frombits(payload(v)) }
func toInt(v lib.TJSValue) int32       { return int32(payload(v)) }
func toPointer(v lib.TJSValue) uintptr { return uintptr(payload(v)) }
