package numbers

import (
	"slices"
	"strconv"
	"strings"
)

// A Role is what a literal seems to be for.
type Role int

const (
	Quantity Role = iota // a real number
	Element              // an integer in a list of numbers
	Count                // an integer elsewhere: a size, a bound, a factor
	Index                // an integer in a subscript
)

// A Literal is one number in a program.
type Literal struct {
	Begin, End int // its bytes, with the minus before it if that is its sign
	Value      float64
	Integer    bool
	Suffix     string // what marks its type: the "n" of "10n"
	Role       Role
	Column     int  // its place in the innermost list, -1 outside lists
	Bare       bool // whether a minus may stand before it without parentheses
	Glued      bool // whether a letter or digit stands right before it, so that its sign must stay

	in         bracket // the bracket it stands in
	prev, next byte    // the tokens around it, as scanner.prev has them
}

// A bracket is one that is open.
type bracket struct {
	kind   byte // '[', '(', '{', '`' in a template, '$' in its code; 0: none
	list   bool // whether it holds a list
	call   bool // whether it follows an operand: a subscript or a call
	column int  // commas so far
}

// Find returns the numbers in program that may be changed, in order. It takes time linear in the
// length of program, whatever that is.
func Find(program string, syn Syntax) []Literal {
	s := scanner{src: program, syn: syn, minus: -1}
	for s.pos < len(s.src) {
		s.token()
	}
	for i := range s.found {
		s.found[i].Role = roleOf(s.found[i], syn)
	}
	return s.found
}

// Comments returns the comments in program that their line ends, in order, without what begins them.
func Comments(program string, syn Syntax) []Comment {
	s := scanner{src: program, syn: syn, minus: -1}
	for s.pos < len(s.src) {
		s.token()
	}
	return s.comments
}

// A Comment is one that its line ends.
type Comment struct {
	Begin int // of what begins it
	Text  string
}

// Openers returns where brackets open in program's code.
func Openers(program string, syn Syntax) []int {
	s := scanner{src: program, syn: syn, minus: -1}
	for s.pos < len(s.src) {
		s.token()
	}
	return s.openers
}

func roleOf(l Literal, syn Syntax) Role {
	switch {
	case !l.Integer:
		return Quantity
	case l.in.kind == '[' && l.in.call:
		return Index
	case syn.types && l.prev == '[' && l.next == ']':
		return Count
	case l.prev == '(' && l.next == ')':
		return Count
	case l.in.list && strings.IndexByte("[{(,", l.prev) >= 0 && strings.IndexByte(",]})", l.next) >= 0:
		return Element
	}
	return Count
}

// A scanner goes through a program token by token, as far as tokens matter to finding numbers.
type scanner struct {
	src     string
	syn     Syntax
	pos     int
	prev    byte // the last token: its byte, 'a' for a name, 'k' for a keyword, '0' for a number, '"' for a string
	minus   int  // where the last token is, if it is a minus that may be a number's sign, else -1
	unsaid  byte // the token before that minus
	open    []bracket
	quoted  int // templates that are open
	plain   int // where regular expressions may stand again
	found   []Literal
	waiting bool  // the last of found wants its next token
	openers []int // where brackets open, outside templates

	comments []Comment
}

// token reads one token, or white space or a comment.
func (s *scanner) token() {
	c, rest := s.src[s.pos], s.src[s.pos:]
	switch {
	case strings.IndexByte(" \t\r\n\v\f", c) >= 0:
		s.pos++
		s.minus = -1
	case strings.HasPrefix(rest, s.syn.comment):
		begin, from := s.pos, s.pos+len(s.syn.comment)
		s.skipTo("\n", len(s.syn.comment))
		s.comments = append(s.comments, Comment{begin, strings.TrimSuffix(s.src[from:s.pos], "\n")})
	case s.syn.block && strings.HasPrefix(rest, "/*"):
		s.skipTo("*/", 2)
	case c == '"' || c == '\'':
		s.took('"')
		s.quote(c)
	case c == '`' && s.syn.backtick == 'r':
		s.took('"')
		s.skipTo("`", 1)
	case c == '`' && s.syn.backtick == 't':
		s.took('"')
		s.open = append(s.open, bracket{kind: '`'})
		s.quoted++
		s.pos++
		s.template()
	case isDigit(c) || c == '.' && s.prev != '.' && len(rest) > 1 && isDigit(rest[1]):
		s.number()
	case isName(c):
		s.name()
	default:
		s.sign(c)
	}
}

// took notes that a token of kind begins.
func (s *scanner) took(kind byte) {
	if s.waiting {
		s.found[len(s.found)-1].next = kind
		s.waiting = false
	}
	s.prev, s.minus = kind, -1
}

// operand reports whether the last token ends an operand, so that a minus after it subtracts, a slash
// divides and a bracket subscripts or calls.
func (s *scanner) operand() bool { return strings.IndexByte("a0\")]}", s.prev) >= 0 }

// skipTo goes behind the next end, looking from here plus skip.
func (s *scanner) skipTo(end string, skip int) {
	from := min(s.pos+skip, len(s.src))
	if i := strings.Index(s.src[from:], end); i >= 0 {
		s.pos = from + i + len(end)
		return
	}
	s.pos = len(s.src)
}

// quote goes behind a string in quotes, which ends with its line if nothing else ends it.
func (s *scanner) quote(q byte) {
	if long := strings.Repeat(string(q), 3); s.syn.triple && strings.HasPrefix(s.src[s.pos:], long) {
		s.long(long)
		return
	}
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case q:
			s.pos++
			return
		case '\n':
			return
		}
	}
	s.pos = len(s.src)
}

// long goes behind a string between three quotes.
func (s *scanner) long(end string) {
	for s.pos += len(end); s.pos < len(s.src); s.pos++ {
		if strings.HasPrefix(s.src[s.pos:], end) {
			s.pos += len(end)
			return
		}
		if s.src[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos = len(s.src)
}

// template goes on in a template until it ends or code begins in it.
func (s *scanner) template() {
	for ; s.pos < len(s.src); s.pos++ {
		switch {
		case s.src[s.pos] == '\\':
			s.pos++
		case s.src[s.pos] == '`':
			s.pos++
			s.open = s.open[:len(s.open)-1]
			s.quoted--
			s.prev = '"'
			return
		case strings.HasPrefix(s.src[s.pos:], "${"):
			s.pos += 2
			s.open = append(s.open, bracket{kind: '$'})
			s.prev = '{'
			return
		}
	}
	s.pos = len(s.src)
}

// name goes behind a name or a keyword.
func (s *scanner) name() {
	if IsKeyword(s.word()) {
		s.took('k')
		return
	}
	s.took('a')
}

// IsKeyword reports whether an operand follows name.
func IsKeyword(name string) bool {
	switch name {
	case "return", "case", "in", "of", "and", "or", "not", "if", "elif", "else", "while", "yield", "await",
		"typeof", "delete", "void", "throw", "assert", "const", "let", "var", "do":
		return true
	}
	return false
}

// sign reads a token of one byte, or "++" or "--".
func (s *scanner) sign(c byte) {
	operand, begin := s.operand(), s.pos
	if (c == '+' || c == '-') && s.pos+1 < len(s.src) && s.src[s.pos+1] == c {
		s.pos += 2
		if !operand {
			s.took(c)
		}
		return
	}
	if c == '/' && s.syn.regexp && !operand && s.pattern() {
		return
	}
	before := s.prev
	s.took(c)
	s.pos++
	switch c {
	case '-':
		if !operand {
			s.minus, s.unsaid = begin, before
		}
	case ',':
		if n := len(s.open); n > 0 {
			s.open[n-1].column++
		}
	case '[', '(', '{':
		s.enter(c, operand)
	case ']', ')', '}':
		s.leave(c)
	}
}

// pattern goes behind a regular expression, if one stands here. Where one does not end on its line,
// none is looked for in the rest of the line, which would take quadratic time.
func (s *scanner) pattern() bool {
	if s.pos < s.plain {
		return false
	}
	class, i := false, s.pos+1
	for ; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.took('"')
			s.pos = i + 1
			return true
		}
	}
	s.plain = i
	return false
}

// enter opens a bracket. What stands in parentheses that call nothing is a list, unless it is itself
// the argument of a call: the shape in zeros((11, 2)) is none.
func (s *scanner) enter(c byte, operand bool) {
	b := bracket{kind: c, call: operand, list: c == '{' || !operand}
	if n := len(s.open); c == '(' && n > 0 && s.open[n-1].kind == '(' && s.open[n-1].call {
		b.list = false
	}
	s.open = append(s.open, b)
	if s.quoted == 0 {
		s.openers = append(s.openers, s.pos-1)
	}
}

// leave closes a bracket, if it is the innermost.
func (s *scanner) leave(c byte) {
	n := len(s.open)
	if n == 0 {
		return
	}
	switch s.open[n-1].kind {
	case '$':
		if c == '}' {
			s.open = s.open[:n-1]
			s.template()
		}
	case '[', '(', '{':
		if opening[c] == s.open[n-1].kind {
			s.open = s.open[:n-1]
		}
	}
}

// opening is the bracket that each closing one closes.
var opening = [256]byte{']': '[', ')': '(', '}': '{'}

// number reads a number.
func (s *scanner) number() {
	l := Literal{Begin: s.pos, prev: s.prev, Column: -1}
	signed := s.minus >= 0 && s.minus == s.pos-1
	if signed {
		l.Begin, l.prev = s.minus, s.unsaid
	}
	l.Bare = signed || strings.IndexByte("([{,=:;k\x00", l.prev) >= 0
	l.Glued = l.Begin > 0 && (isName(s.src[l.Begin-1]) || isDigit(s.src[l.Begin-1]))
	if n := len(s.open); n > 0 {
		if l.in = s.open[n-1]; l.in.list {
			l.Column = l.in.column
		}
	}
	usable := s.digits(&l) && (signed || !l.Glued) && s.quoted == 0
	l.End = s.pos
	if signed {
		l.Value = -l.Value
	}
	s.took('0')
	if usable {
		s.found = append(s.found, l)
		s.waiting = true
	}
}

// digits goes behind a number and fills in l's Value; it reports whether l may be changed.
func (s *scanner) digits(l *Literal) bool {
	begin := s.pos
	if s.src[begin] == '0' && begin+1 < len(s.src) && strings.IndexByte("xXbBoO", s.src[begin+1]) >= 0 {
		s.radix()
		return false
	}
	s.decimals()
	l.Integer = true
	if s.point() {
		s.pos++
		s.decimals()
		l.Integer = false
	}
	if n := s.exponent(); n > 0 {
		s.pos += n
		s.decimals()
		l.Integer = false
	}
	text := s.src[begin:s.pos]
	l.Suffix = s.word()
	var err error
	l.Value, err = strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	octal := l.Integer && len(text) > 1 && text[0] == '0'
	big := l.Integer && l.Value >= 1<<53
	return err == nil && !octal && !big && slices.Contains(suffixes, l.Suffix)
}

// suffixes are what may follow a number to mark its type, in one language or another.
var suffixes = []string{"", "n", "f", "F", "d", "D", "i", "j", "J", "l", "L", "u", "U", "ul", "UL",
	"f32", "f64", "i32", "i64", "u8", "u32", "u64", "usize"}

// radix goes behind a number that is not decimal.
func (s *scanner) radix() {
	for ; s.pos < len(s.src); s.pos++ {
		c, last := s.src[s.pos], s.src[s.pos-min(s.pos, 1)]
		exponent := (c == '+' || c == '-') && (last == 'p' || last == 'P')
		if !isName(c) && !isDigit(c) && c != '.' && !exponent {
			return
		}
	}
}

// decimals goes behind digits.
func (s *scanner) decimals() {
	for s.pos < len(s.src) && (isDigit(s.src[s.pos]) || s.src[s.pos] == '_') {
		s.pos++
	}
}

// point reports whether a decimal point stands here: not a range (0..9), not a method (1.max(x)).
func (s *scanner) point() bool {
	rest := s.src[s.pos:]
	if rest == "" || rest[0] != '.' {
		return false
	}
	if len(rest) == 1 || isDigit(rest[1]) {
		return true
	}
	after := scanner{src: s.src, pos: s.pos + 1}
	return rest[1] != '.' && (!isName(rest[1]) || after.exponent() > 0)
}

// exponent returns how many bytes stand before the digits of an exponent here, 0 if there is none.
func (s *scanner) exponent() int {
	rest := s.src[s.pos:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return 0
	}
	n := 1
	if len(rest) > 1 && (rest[1] == '+' || rest[1] == '-') {
		n = 2
	}
	if len(rest) > n && isDigit(rest[n]) {
		return n
	}
	return 0
}

// word goes behind what stands here of a name and returns it.
func (s *scanner) word() string {
	begin := s.pos
	for s.pos < len(s.src) && (isName(s.src[s.pos]) || isDigit(s.src[s.pos])) {
		s.pos++
	}
	return s.src[begin:s.pos]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isName reports whether c may begin a name: an ASCII letter, or any byte beyond ASCII.
func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}
