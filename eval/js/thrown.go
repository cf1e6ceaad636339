package js

import (
	"fmt"
	"strings"
	"unicode/utf8"

	lib "modernc.org/libquickjs"

	"github.com/evoalloc/evoalloc/eval"
)

const (
	reasonBytes = 500     // of a program's own message in a reason
	stackBytes  = 2 << 10 // of a stack trace
)

// thrown takes the pending exception and returns its error.
func (m *machine) thrown() *eval.ProgramError {
	return m.describe(lib.XJS_GetException(m.tls, m.ctx))
}

// describe returns the error of a program that threw v. It may run the program's code.
func (m *machine) describe(v lib.TJSValue) *eval.ProgramError {
	m.heap.openReserve(len(m.mem))
	denied := m.heap.denied > 0
	switch {
	case denied && tag(v) == lib.EJS_TAG_NULL: // the engine had no memory left for an Error
		return m.outOfMemory()
	case tag(v) != lib.EJS_TAG_OBJECT:
		return &eval.ProgramError{Reason: "threw " + m.primitive(v)}
	case lib.XJS_IsError(m.tls, m.ctx, v) == 0:
		return &eval.ProgramError{Reason: "threw an object that is not an Error"}
	}
	name, message := m.stringMember(v, "name", reasonBytes), m.stringMember(v, "message", reasonBytes)
	switch {
	case denied && name == "InternalError" && message == "out of memory":
		return m.outOfMemory()
	case name == "InternalError" && message == "stack overflow":
		return &eval.ProgramError{Reason: "calls nest too deeply"}
	}
	err := &eval.ProgramError{Reason: "threw " + strings.TrimSuffix(name+": "+message, ": ") + m.position(v)}
	if stack := m.stringMember(v, "stack", stackBytes); stack != "" {
		err.Artifacts = map[string]string{"stack": stack}
	}
	return err
}

func (m *machine) outOfMemory() *eval.ProgramError {
	return &eval.ProgramError{Reason: fmt.Sprintf("used more than %d MiB of memory", (len(m.mem)-reserveBytes)>>20)}
}

// primitive returns v as text. v is not an object, so no code of the program runs.
func (m *machine) primitive(v lib.TJSValue) string {
	switch s := m.clipped(v, reasonBytes); tag(v) {
	case lib.EJS_TAG_STRING, lib.EJS_TAG_STRING_ROPE:
		return fmt.Sprintf("%q", s)
	case lib.EJS_TAG_SYMBOL:
		return "a symbol"
	default:
		return s
	}
}

// clipped returns the beginning of v as text. v is not an object.
func (m *machine) clipped(v lib.TJSValue, limit int) (s string) {
	m.text(v, func(b []byte) { s = clip(string(b[:min(len(b), limit+1)]), limit) })
	return s
}

// position returns where in the program the error v occurred, or "" if v does not tell.
func (m *machine) position(v lib.TJSValue) string {
	line, column := m.property(v, "lineNumber"), m.property(v, "columnNumber")
	if tag(line) != lib.EJS_TAG_INT || tag(column) != lib.EJS_TAG_INT {
		return ""
	}
	return fmt.Sprintf(" (line %d, column %d)", toInt(line), toInt(column))
}

// stringMember returns v[name] if that is a string.
func (m *machine) stringMember(v lib.TJSValue, name string, limit int) string {
	p := m.property(v, name)
	switch tag(p) {
	case lib.EJS_TAG_STRING, lib.EJS_TAG_STRING_ROPE:
		return m.clipped(p, limit)
	case lib.EJS_TAG_EXCEPTION:
		m.free(lib.XJS_GetException(m.tls, m.ctx))
	}
	return ""
}

// clip returns s as valid UTF-8, cut to at most limit bytes and an ellipsis.
func clip(s string, limit int) string {
	more := ""
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s, more = s[:limit], "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD") + more
}
