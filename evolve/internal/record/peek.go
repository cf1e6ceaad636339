package record

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// A peeked is the part of a record that an index needs.
type peeked struct {
	kind Kind
	key  [32]byte
	n    int
	time int64
}

// peek reads the beginning of a record as this package writes it, without decoding the rest. A journal of
// 100,000 replies is opened in seconds because their text is not parsed. It reports false for any other layout,
// such as a line that another program wrote, which is then decoded in full.
func peek(object []byte) (p peeked, ok bool) {
	_, rest, ok := bytes.Cut(object, []byte(`,"kind":"`))
	if !ok {
		return p, false
	}
	kind, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return p, false
	}
	p.kind = kindOf(kind)
	if after, found := bytes.CutPrefix(rest, []byte(`,"key":"`)); found {
		end := bytes.IndexByte(after, '"')
		if end < 2*named {
			return p, false
		}
		if _, err := hex.Decode(p.key[:named], after[:2*named]); err != nil {
			return p, false
		}
		rest = after[end+1:]
	}
	n, rest, _ := number(rest, `,"n":`)
	t, _, ok := number(rest, `,"t":`)
	p.n, p.time = int(n), t
	return p, ok
}

// kindOf allocates nothing for the kinds of which there are many.
func kindOf(name []byte) Kind {
	for _, k := range []Kind{Begin, Completion, Program, Evaluation, Child} {
		if string(name) == string(k) {
			return k
		}
	}
	return Kind(name)
}

// number reads a field that holds an integer, if b begins with its name.
func number(b []byte, name string) (v int64, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(b, []byte(name))
	if !ok {
		return 0, b, false
	}
	end := bytes.IndexAny(after, ",}")
	if end < 0 {
		return 0, b, false
	}
	v, err := strconv.ParseInt(string(after[:end]), 10, 64)
	return v, after[end:], err == nil
}
