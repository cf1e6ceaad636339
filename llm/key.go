package llm

import (
	"crypto/sha256"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Digest identifies a request by its content: it is the SHA-256 of the request's canonical JSON (RFC 8785). Requests
// with equal messages, seed, tools and sampling overrides have equal digests, in every process and after any storage;
// all others differ.
func (req Request) Digest() [sha256.Size]byte {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = appendCanonical((*b)[:0], req)
	return sha256.Sum256(*b)
}

// buffers hold canonical requests, for which each goroutine's stack would otherwise have to grow.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// appendCanonical appends req as canonical JSON by RFC 8785: names in order, no white space, only necessary escapes,
// numbers in their shortest form. So programs in other languages can compute the same bytes. Nil overrides, and what
// has no tools or calls of tools, are left out. Bytes that are not UTF-8 become U+FFFD, as everywhere in JSON, and a
// number that is not finite, which no endpoint accepts, becomes null. The JSON unmarshals into a Request again.
func appendCanonical(b []byte, req Request) []byte {
	b = append(b, '{')
	if req.MaxTokens != nil {
		b = append(b, `"max_tokens":`...)
		b = strconv.AppendInt(b, int64(*req.MaxTokens), 10)
		b = append(b, ',')
	}
	b = appendMessages(append(b, `"messages":`...), req.Messages)
	b = append(b, `,"seed":`...)
	b = strconv.AppendUint(b, uint64(req.Seed), 10)
	b = appendOverride(b, `,"temperature":`, req.Temperature)
	b = appendTools(b, req.Tools)
	b = appendOverride(b, `,"top_p":`, req.TopP)
	return append(b, '}')
}

func appendMessages(b []byte, messages []Message) []byte {
	b = append(b, '[')
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"content":`...), m.Content)
		b = appendString(append(b, `,"role":`...), m.Role)
		if m.CallID != "" {
			b = appendString(append(b, `,"tool_call_id":`...), m.CallID)
		}
		b = appendCalls(b, m.Calls)
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendCalls(b []byte, calls []ToolCall) []byte {
	for i, c := range calls {
		b = append(b, separator(i, `,"tool_calls":[`)...)
		b = appendString(append(b, `{"arguments":`...), c.Arguments)
		b = appendString(append(b, `,"id":`...), c.ID)
		b = append(appendString(append(b, `,"name":`...), c.Name), '}')
	}
	return closed(b, len(calls))
}

func appendTools(b []byte, tools []Tool) []byte {
	for i, t := range tools {
		b = append(b, separator(i, `,"tools":[`)...)
		b = appendString(append(b, `{"description":`...), t.Description)
		b = appendString(append(b, `,"name":`...), t.Name)
		b = append(appendString(append(b, `,"parameters":`...), t.Parameters), '}')
	}
	return closed(b, len(tools))
}

// separator is what stands before the i-th element of a list that begins with begin.
func separator(i int, begin string) string {
	if i > 0 {
		return ","
	}
	return begin
}

// closed ends a list of n elements, which was not begun if there are none.
func closed(b []byte, n int) []byte {
	if n > 0 {
		b = append(b, ']')
	}
	return b
}

func appendOverride(b []byte, name string, x *float64) []byte {
	if x == nil {
		return b
	}
	return appendNumber(append(b, name...), *x)
}

// appendNumber appends x as ECMAScript prints it, as RFC 8785 demands.
func appendNumber(b []byte, x float64) []byte {
	switch abs := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return append(b, "null"...)
	case x == 0: // also -0
		return append(b, '0')
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, x, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-07 is e-7
		b = append(b[:n-2], b[n-1])
	}
	return b
}

// plain holds the ASCII characters that need no escape in a JSON string.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendString appends s as a JSON string, in runs of bytes that need no escape.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = appendEscaped(append(b, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[from:i]...), "\ufffd"...)
			from = i + 1
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
