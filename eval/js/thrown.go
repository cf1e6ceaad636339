package js

import (
	"encoding/json"
	"fmt"
	"strings"

	lib "modernc.org/libquickjs"

	"github.com/evoalloc/evoalloc/eval"
)

// wrong returns a program's error.
func wrong(format string, args ...any) *eval.ProgramError {
	return &eval.ProgramError{Reason: fmt.Sprintf(format, args...)}
}

// withArtifact adds a text to err unless that is empty.
func withArtifact(err *eval.ProgramError, name, text string) *eval.ProgramError {
	if text == "" {
		return err
	}
	if err.Artifacts == nil {
		err.Artifacts = map[string]string{}
	}
	err.Artifacts[name] = strings.ToValidUTF8(text, "\uFFFD")
	return err
}

// thrown takes the pending exception and returns its error.
func (m *machine) thrown() *eval.ProgramError { return m.describe(lib.XJS_GetException(m.tls, m.ctx)) }

// describe returns the error of a program that threw v, or whose result is not data. It may run the program's code.
func (m *machine) describe(v lib.TJSValue) *eval.ProgramError {
	m.openReserve()
	text, ok := m.call(m.describer, v)
	var told struct{ Reason, Stack string }
	if !ok || json.Unmarshal(text, &told) != nil || m.heap.denied > 0 &&
		(tag(v) == lib.EJS_TAG_NULL || strings.HasPrefix(told.Reason, "threw InternalError: out of memory")) {
		return wrong("used more than %d MiB of memory", m.limit>>20) // or there was none for an Error
	}
	return withArtifact(wrong("%s", told.Reason), "stack", told.Stack)
}
