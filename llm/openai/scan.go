package openai

import (
	"strconv"

	"github.com/evoalloc/evoalloc/llm"
)

// A scan reads JSON as servers write it, in one pass that builds only the needed values. It is several times as fast as
// encoding/json and never contradicts it: where the two could differ, the scan fails and encoding/json decides. So it
// fails at anything malformed, at names that are not plain lower case, at duplicate fields and at values of an
// unexpected type.
type scan struct {
	b []byte
	i int // index of the next byte
}

// maxScanned bounds the nesting of values in a scan.
const maxScanned = 32

// chunk reads the whole data of an event into c, whose Usage aliases the data. It reports false if encoding/json must
// decide; c is then undefined.
func (s *scan) chunk(c *chunk) bool {
	*c = chunk{}
	var seen [3]bool
	s.blanks()
	ok := s.object(func(name []byte) bool {
		switch string(name) {
		case "choices":
			return once(&seen[0]) && (s.null() || s.list(func() bool { return s.choice(c) }))
		case "usage":
			begin := s.i
			ok := once(&seen[1]) && s.skip(0)
			c.Usage = s.b[begin:s.i]
			return ok
		case "error":
			return once(&seen[2]) && s.null()
		}
		return s.skip(0)
	})
	s.blanks()
	return ok && s.i == len(s.b)
}

// choice reads one of the choices of c, if it is one of the first.
func (s *scan) choice(c *chunk) bool {
	if len(c.Choices) == maxChoices {
		return s.skip(0)
	}
	c.Choices = append(c.Choices, choice{})
	at := &c.Choices[len(c.Choices)-1]
	var seen [3]bool
	return s.object(func(name []byte) (ok bool) {
		switch string(name) {
		case "index":
			at.Index, ok = s.count()
			return ok && once(&seen[0])
		case "finish_reason":
			return once(&seen[1]) && s.loose(&at.FinishReason)
		case "delta":
			return once(&seen[2]) && (s.null() || s.delta(&at.Delta))
		}
		return s.skip(0)
	})
}

func (s *scan) delta(d *delta) bool {
	var seen [4]bool
	return s.object(func(name []byte) bool {
		switch string(name) {
		case "content":
			if !once(&seen[0]) {
				return false
			}
			if s.null() {
				return true
			}
			raw, ok := s.text()
			if ok {
				d.Content = jsonText{unquote(raw), true}
			}
			return ok
		case "reasoning_content":
			return once(&seen[1]) && s.loose(&d.ReasoningContent)
		case "reasoning":
			return once(&seen[2]) && s.loose(&d.Reasoning)
		case "tool_calls":
			if begin := s.i; once(&seen[3]) && !s.null() {
				ok := s.skip(0)
				d.Calls = rawJSON(s.b[begin:s.i])
				return ok
			}
			return true
		}
		return s.skip(0)
	})
}

// usage reads null, or a usage object whose counts are plain numbers. The result is nil if there are no counts.
func (s *scan) usage() (u *llm.Usage, ok bool) {
	if s.null() {
		return nil, s.i == len(s.b)
	}
	u = new(llm.Usage)
	var seen [4]bool
	number := func(n *int, seen *bool) (ok bool) {
		*n, ok = s.count()
		return ok && once(seen)
	}
	ok = s.object(func(name []byte) bool {
		switch string(name) {
		case "prompt_tokens":
			return number(&u.PromptTokens, &seen[0])
		case "completion_tokens":
			return number(&u.CompletionTokens, &seen[1])
		case "prompt_tokens_details":
			return once(&seen[2]) && (s.null() || s.object(func(name []byte) bool {
				if string(name) == "cached_tokens" {
					return number(&u.CachedTokens, &seen[3])
				}
				return s.skip(0)
			}))
		}
		return s.skip(0)
	})
	if !ok || s.i < len(s.b) || !seen[0] || !seen[1] {
		return nil, false
	}
	if u.PromptTokens+u.CompletionTokens == 0 {
		return nil, true
	}
	u.CachedTokens = min(u.CachedTokens, u.PromptTokens)
	return u, true
}

// once reports whether this is the first call with seen.
func once(seen *bool) bool {
	was := *seen
	*seen = true
	return !was
}

// object reads an object. field reads the value of a name.
func (s *scan) object(field func(name []byte) bool) bool {
	return s.each('{', '}', func() bool {
		name, ok := s.text()
		if !ok || !plain(name[1:len(name)-1]) {
			return false
		}
		s.blanks()
		if !s.is(':') {
			return false
		}
		s.blanks()
		return field(name[1 : len(name)-1])
	})
}

// plain reports whether encoding/json matches name only exactly.
func plain(name []byte) bool {
	for _, b := range name {
		if b >= 0x80 || b == '\\' || 'A' <= b && b <= 'Z' {
			return false
		}
	}
	return true
}

// list reads an array, calling value for each element.
func (s *scan) list(value func() bool) bool { return s.each('[', ']', value) }

// each reads items separated by commas, between open and closing.
func (s *scan) each(open, closing byte, one func() bool) bool {
	if !s.is(open) {
		return false
	}
	s.blanks()
	if s.is(closing) {
		return true
	}
	for one() {
		s.blanks()
		if s.is(closing) {
			return true
		}
		if !s.is(',') {
			return false
		}
		s.blanks()
	}
	return false
}

// skip reads any value, with any names, since its contents are ignored.
func (s *scan) skip(depth int) bool {
	if s.i >= len(s.b) || depth > maxScanned {
		return false
	}
	switch s.b[s.i] {
	case '"':
		_, ok := s.text()
		return ok
	case '{':
		return s.each('{', '}', func() bool {
			if _, ok := s.text(); !ok {
				return false
			}
			s.blanks()
			if !s.is(':') {
				return false
			}
			s.blanks()
			return s.skip(depth + 1)
		})
	case '[':
		return s.each('[', ']', func() bool { return s.skip(depth + 1) })
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.null()
	}
	return s.number()
}

// loose reads a looseString.
func (s *scan) loose(to *looseString) bool {
	if s.i < len(s.b) && s.b[s.i] != '"' {
		return s.skip(0)
	}
	raw, ok := s.text()
	if ok {
		*to = looseString(unquote(raw))
	}
	return ok
}

// text reads a string and returns it with its quotes.
func (s *scan) text() (raw []byte, ok bool) {
	begin := s.i
	if !s.is('"') {
		return nil, false
	}
	for s.i < len(s.b) {
		switch b := s.b[s.i]; {
		case b == '"':
			s.i++
			return s.b[begin:s.i], true
		case b < ' ':
			return nil, false
		case b == '\\':
			if !s.escape() {
				return nil, false
			}
		default:
			s.i++
		}
	}
	return nil, false
}

// escape reads an escape within a string.
func (s *scan) escape() bool {
	rest := s.b[s.i+1:]
	if len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i += 2
		return true
	case 'u':
		if len(rest) < 5 {
			return false
		}
		for _, b := range rest[1:5] {
			if !('0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F') {
				return false
			}
		}
		s.i += 6
		return true
	}
	return false
}

// count reads a whole number from 0 of at most nine digits.
func (s *scan) count() (int, bool) {
	begin := s.i
	if !s.number() || s.i-begin > 9 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.b[begin:s.i]), 10, 32)
	return int(n), err == nil
}

// number reads a number.
func (s *scan) number() bool {
	s.is('-')
	switch {
	case s.is('0'):
	case !s.digits():
		return false
	}
	if s.is('.') && !s.digits() {
		return false
	}
	if s.is('e') || s.is('E') {
		if !s.is('+') {
			s.is('-')
		}
		return s.digits()
	}
	return true
}

// digits reads at least one digit.
func (s *scan) digits() bool {
	begin := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > begin
}

func (s *scan) null() bool { return s.word("null") }

// word reads w, if it comes next.
func (s *scan) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// is reads b, if it comes next.
func (s *scan) is(b byte) bool {
	if s.i < len(s.b) && s.b[s.i] == b {
		s.i++
		return true
	}
	return false
}

func (s *scan) blanks() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}
