package js

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"

	"github.com/evoalloc/evoalloc/eval"
)

// mostNested is how deep arrays and objects may nest in a result. A cycle is deeper than that.
const mostNested = 64

// encode returns v as JSON. It calls no toJSON, refuses numbers that are not finite where JSON.stringify would write
// null, and uses nothing that the program may have redefined. Getters and proxies in v do run.
func (m *machine) encode(v lib.TJSValue, limit int) ([]byte, *eval.ProgramError) {
	e := encoder{machine: m, limit: limit}
	err := e.value(v, 0)
	if err == nil {
		err = e.tooLong()
	}
	if err != nil {
		if err.thrown != nil {
			return nil, err.thrown
		}
		return nil, &eval.ProgramError{Reason: "returned " + err.Error()}
	}
	return e.out, nil
}

type encoder struct {
	*machine
	out   []byte
	limit int
}

// A badValue is a part of a result that is not data, and the path to it.
type badValue struct {
	what, path string
	nowhere    bool               // whether the path is unknown
	thrown     *eval.ProgramError // what reading it threw
}

func (b *badValue) Error() string {
	if b.path == "" {
		return b.what
	}
	return fmt.Sprintf("%s at result%s", b.what, b.path)
}

// in adds a step to the path.
func (b *badValue) in(format string, arg any) *badValue {
	if !b.nowhere && len(b.path) < reasonBytes {
		b.path = fmt.Sprintf(format, arg) + b.path
	}
	return b
}

func bad(what string) *badValue { return &badValue{what: what} }

func (e *encoder) value(v lib.TJSValue, depth int) *badValue {
	if err := e.tooLong(); err != nil {
		return err
	}
	switch tag(v) {
	case lib.EJS_TAG_INT:
		e.out = strconv.AppendInt(e.out, int64(toInt(v)), 10)
	case lib.EJS_TAG_FLOAT64:
		return e.float(toFloat(v))
	case lib.EJS_TAG_BOOL:
		e.out = strconv.AppendBool(e.out, toInt(v) != 0)
	case lib.EJS_TAG_NULL:
		e.out = append(e.out, "null"...)
	case lib.EJS_TAG_STRING, lib.EJS_TAG_STRING_ROPE:
		return e.string(v)
	case lib.EJS_TAG_OBJECT:
		return e.object(v, depth)
	case lib.EJS_TAG_EXCEPTION:
		return &badValue{thrown: e.thrown()}
	default:
		return bad(kind(v))
	}
	return nil
}

func (e *encoder) tooLong() *badValue {
	if len(e.out) <= e.limit {
		return nil
	}
	return &badValue{what: fmt.Sprintf("more than %d bytes of JSON", e.limit), nowhere: true}
}

// kind names the kind of a value that is not data.
func kind(v lib.TJSValue) string {
	switch tag(v) {
	case lib.EJS_TAG_UNDEFINED:
		return "undefined"
	case lib.EJS_TAG_SYMBOL:
		return "a symbol"
	case lib.EJS_TAG_BIG_INT, lib.EJS_TAG_SHORT_BIG_INT:
		return "a BigInt"
	}
	return "something that is not data"
}

func (e *encoder) float(f float64) *badValue {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return bad(strconv.FormatFloat(f, 'g', -1, 64) + ", not a finite number,")
	}
	e.out = strconv.AppendFloat(e.out, f, 'g', -1, 64)
	return nil
}

func (e *encoder) string(v lib.TJSValue) *badValue {
	var err error
	if !e.text(v, func(s []byte) {
		s = s[:min(len(s), e.limit)] // with its quotes it is still too long
		var quoted []byte
		quoted, err = json.Marshal(strings.ToValidUTF8(string(s), "\uFFFD"))
		e.out = append(e.out, quoted...)
	}) {
		return bad("a string that there is no memory to copy")
	}
	if err != nil {
		return bad("a string that is not text")
	}
	return nil
}

func (e *encoder) object(v lib.TJSValue, depth int) *badValue {
	if depth == mostNested {
		return &badValue{what: fmt.Sprintf("data nested more than %d deep, or a cycle", mostNested), nowhere: true}
	}
	isArray := lib.XJS_IsArray(e.tls, e.ctx, v)
	switch {
	case isArray < 0:
		return &badValue{thrown: e.thrown()}
	case isArray > 0 || isTyped(v):
		return e.list(v, depth)
	case lib.XJS_IsFunction(e.tls, e.ctx, v) != 0:
		return bad("a function")
	}
	return e.members(v, depth)
}

// isTyped reports whether the object v is a typed array.
func isTyped(v lib.TJSValue) bool {
	class := int((*lib.TJSObject)(unsafe.Add(nil, toPointer(v))).Fclass_id)
	return class >= lib.EJS_CLASS_UINT8C_ARRAY && class <= lib.EJS_CLASS_FLOAT64_ARRAY
}

// list encodes an array or a typed array.
func (e *encoder) list(v lib.TJSValue, depth int) *badValue {
	length := e.property(v, "length")
	n := float64(toInt(length))
	switch tag(length) {
	case lib.EJS_TAG_INT:
	case lib.EJS_TAG_FLOAT64:
		n = toFloat(length)
	case lib.EJS_TAG_EXCEPTION:
		return &badValue{thrown: e.thrown()}
	default:
		return bad("an array whose length is no number")
	}
	if !(n >= 0 && n <= float64(e.limit)) {
		return bad(fmt.Sprintf("an array of length %v", n))
	}
	e.out = append(e.out, '[')
	for i := range uint32(n) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		x := lib.XJS_GetPropertyUint32(e.tls, e.ctx, v, i)
		if err := e.value(x, depth+1); err != nil {
			return err.in("[%d]", i)
		}
		e.free(x)
	}
	e.out = append(e.out, ']')
	return nil
}

// members encodes the object v: its own enumerable named properties, except undefined ones.
func (e *encoder) members(v lib.TJSValue, depth int) *badValue {
	names, err := e.names(v)
	if err != nil {
		return err
	}
	e.out = append(e.out, '{')
	first := true
	for _, name := range names {
		x := lib.XGetProperty(e.tls, e.ctx, v, name.Fatom)
		if tag(x) == lib.EJS_TAG_UNDEFINED {
			continue
		}
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		if err := e.member(name.Fatom, x, depth); err != nil {
			return err
		}
		e.free(x)
	}
	e.out = append(e.out, '}')
	return nil
}

func (e *encoder) member(name lib.TJSAtom, x lib.TJSValue, depth int) *badValue {
	key := lib.XJS_AtomToString(e.tls, e.ctx, name)
	if err := e.value(key, depth+1); err != nil {
		return err
	}
	e.out = append(e.out, ':')
	if err := e.value(x, depth+1); err != nil {
		return err.in("[%q]", e.clipped(key, reasonBytes))
	}
	e.free(key)
	return nil
}

// names returns the names of the own enumerable properties of the object v.
func (e *encoder) names(v lib.TJSValue) ([]lib.TJSPropertyEnum, *badValue) {
	table := (*uintptr)(unsafe.Add(nil, uintptr(e.scratch)))
	count := (*uint32)(unsafe.Add(nil, uintptr(e.scratch+8)))
	if lib.XJS_GetOwnPropertyNames(e.tls, e.ctx, uintptr(e.scratch), uintptr(e.scratch+8), v,
		lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY) < 0 {
		return nil, &badValue{thrown: e.thrown()}
	}
	if *count == 0 {
		return nil, nil
	}
	return unsafe.Slice((*lib.TJSPropertyEnum)(unsafe.Add(nil, *table)), *count), nil
}
