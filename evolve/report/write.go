package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"reflect"
	"strings"
)

// write writes v to w as JSON, indented by two spaces and without escapes for HTML. The output is that of a
// [json.Encoder] with these settings. Such an encoder holds all of its output in memory. write does not if v is a
// [Greedy], a [Bandit] or a part of one: it makes and writes children one at a time. If v has a type of the
// caller's, such as a struct that embeds a report, write holds all of its output too.
func write(w io.Writer, v any) error {
	s := newStream(w)
	if err := s.value(reflect.ValueOf(v), ""); err != nil {
		return err
	}
	s.text("\n")
	return s.out.Flush()
}

// step is what each level is indented by.
const step = "  "

// A stream writes values as they come. It takes apart what holds children. The rest, of which there is little at a
// time, is left to encoding/json, so that its rules hold for every value and need not be written again here.
type stream struct {
	out   *bufio.Writer // keeps its first error until it is flushed
	whole bytes.Buffer  // one value that is not taken apart
	// encoders write to whole, each with an indentation of its own, and keep their scratch memory.
	encoders map[string]*json.Encoder
	holds    map[reflect.Type]bool // the types that were looked at
}

func newStream(w io.Writer) *stream {
	return &stream{
		out:      bufio.NewWriterSize(w, 1<<16),
		encoders: map[string]*json.Encoder{},
		holds:    map[reflect.Type]bool{reflect.TypeFor[childRows](): true},
	}
}

// text writes text. It returns no error, because out keeps its first one and every later write returns it.
func (s *stream) text(text string) { s.out.WriteString(text) }

// value writes v. Its first line is indented already, and the others are indented by indent.
func (s *stream) value(v reflect.Value, indent string) error {
	switch {
	case !v.IsValid() || !s.holdsChildren(v.Type()):
		return s.encode(v, indent)
	case v.Type() == reflect.TypeFor[childRows]():
		return s.list(children(v), indent)
	case v.Kind() == reflect.Struct:
		return s.object(v, indent)
	case v.IsNil():
		return s.encode(v, indent)
	case v.Kind() == reflect.Slice:
		return s.list(elements(v), indent)
	default: // a pointer
		return s.value(v.Elem(), indent)
	}
}

// encode writes v by encoding/json.
func (s *stream) encode(v reflect.Value, indent string) error {
	e := s.encoders[indent]
	if e == nil {
		e = json.NewEncoder(&s.whole)
		e.SetEscapeHTML(false)
		e.SetIndent(indent, step)
		s.encoders[indent] = e
	}
	var x any // null
	if v.IsValid() {
		x = v.Interface()
	}
	s.whole.Reset()
	if err := e.Encode(x); err != nil {
		return err
	}
	_, err := s.out.Write(bytes.TrimSuffix(s.whole.Bytes(), []byte("\n")))
	return err
}

// list writes a JSON array.
func (s *stream) list(elements iter.Seq[reflect.Value], indent string) error {
	separator, end := "[", "[]"
	for e := range elements {
		s.text(separator + "\n" + indent + step)
		if err := s.value(e, indent+step); err != nil {
			return err
		}
		separator, end = ",", "\n"+indent+"]"
	}
	s.text(end)
	return nil
}

// object writes a JSON object.
func (s *stream) object(v reflect.Value, indent string) error {
	separator, end := "{", "{}"
	for name, field := range members(v) {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		s.text(separator + "\n" + indent + step + string(key) + ": ")
		if err := s.value(field, indent+step); err != nil {
			return err
		}
		separator, end = ",", "\n"+indent+"}"
	}
	s.text(end)
	return nil
}

// holdsChildren reports whether t is childRows, or a type of this package that contains them. Structs of other
// packages are not taken apart. encoding/json has many rules for the members of a struct, and only the few that
// the types of this package need are written here.
func (s *stream) holdsChildren(t reflect.Type) bool {
	holds, known := s.holds[t]
	if known {
		return holds
	}
	s.holds[t] = false // so that a type which contains itself does not recurse for ever
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			holds = holds || t.PkgPath() == reflect.TypeFor[childRows]().PkgPath() && s.holdsChildren(t.Field(i).Type)
		}
	case reflect.Slice, reflect.Pointer:
		holds = s.holdsChildren(t.Elem())
	}
	s.holds[t] = holds
	return holds
}

// children yields the rows of v, which are childRows.
func children(v reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		for row := range v.Interface().(childRows).All() {
			if !yield(reflect.ValueOf(row)) {
				return
			}
		}
	}
}

// elements yields what is in the slice v.
func elements(v reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		for i := range v.Len() {
			if !yield(v.Index(i)) {
				return
			}
		}
	}
}

// members yields the names and values of the members that encoding/json makes of the struct v, if it is of
// this package: its fields are exported, tagged or embedded structs, and no two have a name in common.
func members(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for i := range v.NumField() {
			f, field := v.Type().Field(i), v.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				for name, field := range members(field) {
					if !yield(name, field) {
						return
					}
				}
			case options == "omitempty" && empty(field):
			case !yield(name, field):
				return
			}
		}
	}
}

// empty reports whether omitempty leaves v out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
