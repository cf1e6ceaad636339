package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A chunk holds those fields of a stream's chunk that are read here.
type chunk struct {
	Choices choices         `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// maxChoices bounds the choices that are read, of which one was requested. An empty one takes three bytes of a body and
// some hundred in memory.
const maxChoices = 8

type choices []choice

// UnmarshalJSON gets well-formed JSON, as encoding/json guarantees.
func (c *choices) UnmarshalJSON(raw []byte) (err error) {
	*c, err = firstOf[choice](raw, maxChoices)
	return err
}

// firstOf returns the first elements of a well-formed JSON array, at most so many.
func firstOf[T any](raw []byte, most int) (list []T, err error) {
	switch raw[0] {
	case '[':
	case 'n': // null
		return nil, nil
	default:
		return nil, &json.UnmarshalTypeError{Value: kindOfJSON(raw)}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token()
	for err == nil && d.More() && len(list) < most {
		var one T
		err = d.Decode(&one)
		list = append(list, one)
	}
	return list, err
}

type choice struct {
	Index        int         `json:"index"`
	FinishReason looseString `json:"finish_reason"`
	Delta        delta       `json:"delta"`
}

type delta struct {
	Content          jsonText    `json:"content"`
	ReasoningContent looseString `json:"reasoning_content"`
	Reasoning        looseString `json:"reasoning"`
	Calls            rawJSON     `json:"tool_calls"`
}

// parse parses the data of an event. Usage may alias data.
func (c *chunk) parse(data []byte) error {
	if (&scan{b: data}).chunk(c) {
		return nil
	}
	*c = chunk{}
	return json.Unmarshal(data, c)
}

// failed reports whether the chunk is an error object.
func (c *chunk) failed() bool { return len(c.Error) > 0 && string(c.Error) != "null" }

// A jsonText is a string or null. Its bytes are kept even if they are not UTF-8, since a server may cut a character
// between two chunks.
type jsonText struct {
	text   string
	exists bool // whether it was a string, even an empty one
}

// UnmarshalJSON gets well-formed JSON, as encoding/json guarantees.
func (t *jsonText) UnmarshalJSON(raw []byte) error {
	switch {
	case raw[0] == '"':
		t.text, t.exists = unquote(raw), true
	case raw[0] != 'n': // null
		return &json.UnmarshalTypeError{Value: kindOfJSON(raw), Field: "content"}
	}
	return nil
}

// A looseString is a jsonText for inessential fields: anything but a string counts as absent.
type looseString string

// UnmarshalJSON gets well-formed JSON, as encoding/json guarantees.
func (s *looseString) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		*s = looseString(unquote(raw))
	}
	return nil
}

// A rawJSON is any value as it stands, and "" for null.
type rawJSON string

// UnmarshalJSON gets well-formed JSON, as encoding/json guarantees.
func (r *rawJSON) UnmarshalJSON(raw []byte) error {
	if raw[0] != 'n' {
		*r = rawJSON(raw)
	}
	return nil
}

func kindOfJSON(raw []byte) string {
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case '"':
		return "string"
	}
	return "number"
}

// unquote decodes a well-formed JSON string. Unlike encoding/json it keeps bytes that are not UTF-8; half of a
// surrogate pair becomes U+FFFD as there.
func unquote(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	plain := 0
	for plain < len(raw) && raw[plain] != '\\' {
		plain++
	}
	if plain == len(raw) {
		return string(raw)
	}
	b := append(make([]byte, 0, len(raw)), raw[:plain]...)
	for raw = raw[plain:]; len(raw) > 0; {
		if raw[0] != '\\' {
			b = append(b, raw[0])
			raw = raw[1:]
			continue
		}
		var n int
		b, n = appendEscape(b, raw)
		raw = raw[n:]
	}
	return string(b)
}

// appendEscape appends the character of the escape at the beginning of raw, and returns the escape's length.
func appendEscape(b, raw []byte) ([]byte, int) {
	switch c := raw[1]; c {
	case 'b':
		return append(b, '\b'), 2
	case 'f':
		return append(b, '\f'), 2
	case 'n':
		return append(b, '\n'), 2
	case 'r':
		return append(b, '\r'), 2
	case 't':
		return append(b, '\t'), 2
	case 'u':
		r := hex4(raw[2:])
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(b, r), 6
		}
		if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
			if both := utf16.DecodeRune(r, hex4(raw[8:])); both != utf8.RuneError {
				return utf8.AppendRune(b, both), 12
			}
		}
		return utf8.AppendRune(b, utf8.RuneError), 6
	default: // a quote, a slash or a backslash
		return append(b, c), 2
	}
}

// hex4 reads the four digits that raw begins with.
func hex4(raw []byte) rune {
	n, err := strconv.ParseUint(string(raw[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
