package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Key names a request by what is asked: the SHA-256 of it as canonical JSON (RFC 8785), in 64 hexadecimal digits.
// Requests with equal messages, seed and sampling overrides have the same key, in every process
// and whatever way they were stored in between; any difference gives another.
func Key(req Request) string {
	sum := Digest(req)
	return hex.EncodeToString(sum[:])
}

// Digest is the SHA-256 of which [Key] is the text.
func Digest(req Request) [sha256.Size]byte {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = appendCanonical((*b)[:0], req)
	return sha256.Sum256(*b)
}

// buffers are for canonical requests. On the stack, each goroutine's would have to grow for them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// appendCanonical appends req as canonical JSON in the sense of RFC 8785: names in order, no white
// space, only those characters escaped that must be, numbers in their shortest form. Programs in other
// languages so find the same bytes. Overrides that are nil are left out. Bytes that are not UTF-8
// become U+FFFD, as everywhere in JSON, and a number that is not finite, which JSON cannot hold
// and no endpoint accepts, becomes null. It unmarshals into a Request again.
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
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendOverride(b []byte, name string, x *float64) []byte {
	if x == nil {
		return b
	}
	return appendNumber(append(b, name...), *x)
}

// appendNumber writes x as ECMAScript does, which is what RFC 8785 asks for.
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

// plain holds the ASCII characters that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendString writes s as a JSON string, in runs of bytes that stand for themselves.
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
