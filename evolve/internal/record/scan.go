package record

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// A scan reads a record of the frequent kinds in the form in which this package writes it: without white space, and
// with the fields in the order of [Record]. It is several times as fast as encoding/json, which it never contradicts:
// at any other form it gives up, and encoding/json then decides.
type scan struct {
	b   []byte
	i   int // of what is read next
	bad bool
}

// record reads all of the object into r. It reports false where encoding/json has to decide; r then holds anything.
func (s *scan) record(r *Record) bool {
	s.take(`{"i":`)
	r.Index = int(s.integer())
	if s.has(`,"kind":`) {
		r.Kind = Kind(s.known(string(Begin), string(Completion), string(Program), string(Evaluation), string(Child)))
	}
	s.string(`,"key":`, &r.Key)
	s.int(`,"n":`, &r.N)
	s.take(`,"t":`)
	r.Time = s.integer()
	s.string(`,"for":`, &r.For)
	if s.has(`,"reply":`) {
		r.Reply = s.reply()
	}
	s.int(`,"prompt":`, &r.Prompt)
	s.int(`,"max_tokens":`, &r.MaxTokens)
	s.string(`,"text":`, &r.Text)
	s.string(`,"program":`, &r.Program)
	if s.has(`,"result":`) {
		r.Result = s.result()
	}
	if s.has(`,"took_ns":`) {
		r.Took = time.Duration(s.integer())
	}
	if s.has(`,"pull":`) {
		r.Pull = s.pointer()
	}
	s.child(r)
	s.take(`}`)
	return !s.bad && s.i == len(s.b)
}

// child reads the fields that a child has.
func (s *scan) child(r *Record) {
	if s.has(`,"child":`) {
		r.Child = s.pointer()
	}
	s.int(`,"step":`, &r.Step)
	s.int(`,"id":`, &r.ID)
	if s.has(`,"parents":`) {
		r.Parents = list(s, func() int { return int(s.integer()) })
	}
	s.string(`,"operator":`, &r.Operator)
	if s.has(`,"state":`) {
		r.State = books.State(s.text())
	}
	r.Valid = s.has(`,"valid":true`)
	s.float(`,"score":`, &r.Score)
	s.string(`,"reason":`, &r.Reason)
}

func (s *scan) reply() *llm.Reply {
	r := new(llm.Reply)
	s.take(`{"text":`)
	r.Text = s.text()
	s.string(`,"reasoning":`, &r.Reasoning)
	s.take(`,"attempts":`)
	r.Attempts = list(s, s.attempt)
	s.take(`}`)
	return r
}

func (s *scan) attempt() (a llm.Attempt) {
	s.take(`{"status":`)
	a.Status = llm.Status(s.known(string(llm.OK), string(llm.Stalled), string(llm.Failed)))
	a.Unsent = s.has(`,"unsent":true`)
	s.string(`,"kind":`, &a.Kind)
	if s.has(`,"usage":`) {
		a.Usage = s.usage()
	}
	a.Capped = s.has(`,"capped":true`)
	s.int(`,"streamed":`, &a.Streamed)
	s.int(`,"estimated_prompt":`, &a.EstimatedPrompt)
	s.take(`,"max_tokens":`)
	a.MaxTokens = int(s.integer())
	if s.has(`,"finish_reason":`) {
		a.FinishReason = s.known("stop", "length")
	}
	s.take(`,"latency":`)
	a.Latency = time.Duration(s.integer())
	s.string(`,"err":`, &a.Err)
	s.string(`,"model":`, &a.Model)
	if s.has(`,"active_params":`) {
		a.ActiveParams = s.integer()
	}
	s.string(`,"endpoint":`, &a.Endpoint)
	a.Reported = s.has(`,"reported":true`)
	s.float(`,"money":`, &a.Money)
	s.take(`}`)
	return a
}

func (s *scan) usage() *llm.Usage {
	u := new(llm.Usage)
	s.take(`{"prompt_tokens":`)
	u.PromptTokens = int(s.integer())
	s.take(`,"cached_tokens":`)
	u.CachedTokens = int(s.integer())
	s.take(`,"completion_tokens":`)
	u.CompletionTokens = int(s.integer())
	s.take(`}`)
	return u
}

func (s *scan) result() *eval.Result {
	r := new(eval.Result)
	s.take(`{"score":`)
	r.Score = s.number()
	s.take(`,"valid":`)
	if r.Valid = s.has(`true`); !r.Valid {
		s.take(`false`)
	}
	s.string(`,"reason":`, &r.Reason)
	if s.has(`,"metrics":`) {
		r.Metrics = table(s, s.number)
	}
	if s.has(`,"artifacts":`) {
		r.Artifacts = table(s, s.text)
	}
	if s.has(`,"cases":`) {
		r.Cases = list(s, s.number)
	}
	s.take(`}`)
	return r
}

// list reads an array that is not empty.
func list[T any](s *scan, value func() T) []T {
	s.take(`[`)
	var all []T
	for !s.bad {
		if all = append(all, value()); s.has(`]`) {
			break
		}
		s.take(`,`)
	}
	return all
}

// table reads an object that is not empty.
func table[T any](s *scan, value func() T) map[string]T {
	s.take(`{`)
	all := make(map[string]T)
	for !s.bad {
		name := s.text()
		s.take(`:`)
		if all[name] = value(); s.has(`}`) {
			break
		}
		s.take(`,`)
	}
	return all
}

// has reads what, if it comes next.
func (s *scan) has(what string) bool {
	if s.bad || len(s.b)-s.i < len(what) || string(s.b[s.i:s.i+len(what)]) != what {
		return false
	}
	s.i += len(what)
	return true
}

// take reads what, which has to come next.
func (s *scan) take(what string) {
	if !s.has(what) {
		s.bad = true
	}
}

// string, int and float read a field, if it comes next.
func (s *scan) string(field string, to *string) {
	if s.has(field) {
		*to = s.text()
	}
}

func (s *scan) int(field string, to *int) {
	if s.has(field) {
		*to = int(s.integer())
	}
}

func (s *scan) float(field string, to *float64) {
	if s.has(field) {
		*to = s.number()
	}
}

func (s *scan) pointer() *int {
	v := int(s.integer())
	return &v
}

// integer reads a whole number of at most 18 digits.
func (s *scan) integer() (v int64) {
	negative := s.has(`-`)
	begin := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		v = 10*v + int64(s.b[s.i]-'0')
		s.i++
	}
	digits := s.i - begin
	if digits == 0 || digits > 18 || digits > 1 && s.b[begin] == '0' || int64(int(v)) != v {
		s.bad = true
	}
	if negative {
		return -v
	}
	return v
}

// number reads a number.
func (s *scan) number() float64 {
	begin := s.i
	s.has(`-`)
	if !s.has(`0`) {
		s.digits()
	}
	if s.has(`.`) {
		s.digits()
	}
	if s.has(`e`) || s.has(`E`) {
		if !s.has(`+`) {
			s.has(`-`)
		}
		s.digits()
	}
	v, err := strconv.ParseFloat(string(s.b[begin:s.i]), 64)
	if err != nil {
		s.bad = true
	}
	return v
}

// digits reads at least one digit.
func (s *scan) digits() {
	begin := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	s.bad = s.bad || s.i == begin
}

// known reads a string, and allocates nothing if it is one of these.
func (s *scan) known(words ...string) string {
	for _, w := range words {
		rest := s.b[min(s.i, len(s.b)):]
		if len(rest) > len(w)+1 && rest[0] == '"' && rest[len(w)+1] == '"' && string(rest[1:len(w)+1]) == w {
			s.i += len(w) + 2
			return w
		}
	}
	return s.text()
}

// text reads a string.
func (s *scan) text() string {
	if s.take(`"`); s.bad {
		return ""
	}
	rest := s.b[s.i:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		s.bad = true
		return ""
	}
	if raw := rest[:end]; bytes.IndexByte(raw, '\\') < 0 {
		s.i += end + 1
		s.bad = !sound(raw)
		return string(raw)
	}
	return s.escaped()
}

// sound reports whether raw stands for itself in a string of JSON.
func sound(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' {
			return false
		}
	}
	return utf8.Valid(raw)
}

// escaped reads the rest of a string that has escapes.
func (s *scan) escaped() string {
	text := make([]byte, 0, s.length())
	for s.i < len(s.b) {
		rest := s.b[s.i:]
		end := bytes.IndexAny(rest, `"\`)
		if end < 0 || !sound(rest[:end]) {
			break
		}
		text = append(text, rest[:end]...)
		s.i += end + 1
		if rest[end] == '"' {
			return string(text)
		}
		r := s.escape()
		if s.bad {
			break
		}
		text = utf8.AppendRune(text, r)
	}
	s.bad = true
	return ""
}

// length returns how many bytes the string has that is read.
func (s *scan) length() int {
	for i := s.i; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			return i - s.i
		}
	}
	return 0
}

// escape reads what follows a backslash.
func (s *scan) escape() rune {
	if s.i >= len(s.b) {
		s.bad = true
		return 0
	}
	c := s.b[s.i]
	s.i++
	switch c {
	case '"', '\\', '/':
		return rune(c)
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'u':
		return s.unicode()
	}
	s.bad = true
	return 0
}

// unicode reads the four digits of a character that is not half of a pair.
func (s *scan) unicode() (r rune) {
	end := min(s.i+4, len(s.b))
	for ; s.i < end; s.i++ {
		switch c := s.b[s.i]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		default:
			s.bad = true
		}
	}
	if end > len(s.b)-1 || r > math.MaxUint16 || 0xd800 <= r && r < 0xe000 {
		s.bad = true
	}
	return r
}
