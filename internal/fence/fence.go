// Package fence reads and writes the fenced code blocks of Markdown, in which prompts show programs
// and models answer with them.
//
// What counts as a block is CommonMark's rule (spec 0.31, section 4.5) with changes for text that models
// write:
//
//   - A fence may be indented further inside a list item.
//   - A line that could open a block but not close one (it has an info string) ends the block it stands in, if
//     its fence is long enough to: the model forgot to close that block, or fenced twice.
//   - A block that nothing closes ends at the first line that ends in a long enough fence, such as
//     "return 1```", or at a closing fence that is indented too far.
//
// The last applies only where CommonMark's rule finds no end, so it takes nothing from a reply that is well
// formed.
package fence

import (
	"cmp"
	"iter"
	"strings"
)

// A Block is one fenced block of a text.
type Block struct {
	Info       string // what follows the opening fence, trimmed: `js title="x"`
	Begin, End int    // the bytes of the text that the block takes up, its fences included
	Closed     bool   // whether its own closing fence ends it, not the text or another block

	raw    string // the lines between the fences, without the last line end
	indent int    // columns that the opening fence is indented
}

// Text returns what stands in the block, without the line end before the closing fence, and with as
// much indentation taken off each line as the opening fence has.
func (b Block) Text() string {
	if b.indent == 0 {
		return b.raw
	}
	lines := strings.Split(b.raw, "\n")
	for i, line := range lines {
		lines[i] = dedent(line, b.indent)
	}
	return strings.Join(lines, "\n")
}

// Language returns the first word of the info string without what dresses it up: "python" for
// `python title="x"`, `{.python .numberLines}` and `language-python`; "" if there is none. Its case
// is kept.
func (b Block) Language() string {
	s := strings.TrimLeft(b.Info, "{. \t")
	end := strings.IndexFunc(s, func(r rune) bool { return !wordRune(r) })
	if end >= 0 {
		s = s[:end]
	}
	s = strings.TrimPrefix(s, "language-")
	return strings.TrimPrefix(s, "lang-")
}

// wordRune reports whether r may stand in the name of a language: "c++", "c#", "objective-c".
func wordRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 ||
		strings.ContainsRune("+#-_", r)
}

// Wrap returns text in a block tagged with tag, between fences longer than any run of backticks in
// text, so that [Blocks] gives text back to the byte. The closing fence has no line end after it.
func Wrap(text, tag string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	bar := strings.Repeat("`", max(3, longest+1))
	return bar + tag + "\n" + text + "\n" + bar
}

// Blocks yields the fenced blocks of text in order. Lines end in "\n". It takes time linear in the
// length of text.
func Blocks(text string) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		s := scanner{text: text}
		for s.pos < len(text) {
			if b, ok := s.line(); ok && !yield(b) {
				return
			}
		}
		if s.open {
			yield(s.block(len(text), len(text), false))
		}
	}
}

// Programs yields the blocks of text as [Blocks] does, but a fence within a string, a comment or brackets of a block's
// program does not end the block if a later one does. language is that of untagged blocks.
func Programs(text, language string) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		s, budget := scanner{text: text}, 16*len(text) // bytes that may be read again
		for s.pos < len(text) {
			within := s
			b, ok := s.line()
			if ok && Open(cmp.Or(b.Language(), language), b.raw) {
				within.pos = s.pos
				if longer, found := within.beyond(b, cmp.Or(b.Language(), language), &budget); found {
					b, s = longer, within
				}
			}
			if ok && !yield(b) {
				return
			}
		}
		if s.open {
			yield(s.block(len(text), len(text), false))
		}
	}
}

// beyond returns the block that b is the beginning of, up to the first fence, or the end of the text, at which its
// program is whole and the fences within are pairs. It takes its bytes from budget.
func (s *scanner) beyond(b Block, language string, budget *int) (Block, bool) {
	in, pairs := *s, false // b ends at the first of a pair
	for s.pos < len(s.text) {
		next, ok := s.line()
		if !ok && s.pos < len(s.text) {
			continue
		}
		if !ok {
			next = Block{Info: b.Info, Begin: in.begin, End: s.pos, raw: s.text[in.body:], indent: b.indent}
		}
		if *budget -= len(next.raw); *budget < 0 {
			return b, false
		}
		if pairs && (next.Closed && !s.open || !ok) && !Open(language, next.raw) {
			s.open = false
			return next, true
		}
		in.pos = s.pos
		*s, pairs = in, !pairs
	}
	return b, false
}

// Leading returns the first of [Programs] if it opens in the first line of text, and false if none does. It reads
// no further than the end of that block, unless this ends within a string.
func Leading(text, language string) (Block, bool) {
	s := scanner{text: text}
	if s.line(); s.open {
		for b := range Programs(text, language) {
			return b, true
		}
	}
	return Block{}, false
}

// A scanner goes through a text line by line.
type scanner struct {
	text string
	pos  int // where the next line begins
	list int // columns that the list item's text is indented, 0 outside lists

	open  bool // inside a block
	fence bar  // its opening fence
	begin int  // where its opening line begins
	body  int  // where its first line begins
}

// line reads one line and returns the block that it ends, if it ends one.
func (s *scanner) line() (Block, bool) {
	begin := s.pos
	line, _, _ := strings.Cut(s.text[begin:], "\n")
	s.pos = min(begin+len(line)+1, len(s.text))
	if !s.open {
		s.outside(line, begin)
		return Block{}, false
	}
	f, ok := barOf(line)
	if !ok || f.char != s.fence.char || f.n < s.fence.n || f.indent > s.fence.reach() {
		return Block{}, false
	}
	end, closed := begin, f.info == ""
	if closed {
		end = s.pos
	}
	b := s.block(begin, end, closed)
	s.open = false
	if !closed {
		s.start(f, begin)
	}
	return b, true
}

// outside looks for an opening fence, and for the list item that it may stand in.
func (s *scanner) outside(line string, begin int) {
	if f, ok := barOf(line); ok && f.indent <= s.list+3 {
		s.start(f, begin)
		return
	}
	if cols, bytes, ok := listItem(line); ok {
		s.list = cols
		if f, ok := barOf(line[bytes:]); ok {
			f.indent += cols
			s.start(f, begin)
		}
		return
	}
	if cols, bytes := indentation(line); cols < 2 && strings.TrimSpace(line[bytes:]) != "" {
		s.list = 0
	}
}

// start enters the block that f opens.
func (s *scanner) start(f bar, begin int) {
	s.open, s.fence, s.begin, s.body = true, f, begin, s.pos
}

// block returns the open block, whose last line ends at last.
func (s *scanner) block(last, end int, closed bool) Block {
	raw := ""
	if last > s.body {
		raw = strings.TrimSuffix(s.text[s.body:last], "\n")
	}
	b := Block{Info: s.fence.info, Begin: s.begin, End: end, Closed: closed, raw: raw, indent: s.fence.indent}
	if at, after, ok := s.fence.closesWithin(raw); ok && !closed {
		b.raw, b.End, b.Closed = raw[:at], s.body+after, true
	}
	return b
}

// closesWithin returns where the first line of text that ends in a fence that could close b has that fence,
// and where the line ends. A fence that stands alone takes its line with it.
func (b bar) closesWithin(text string) (at, after int, ok bool) {
	for begin := 0; begin <= len(text); begin = after + 1 {
		line, _, _ := strings.Cut(text[begin:], "\n")
		after = begin + len(line)
		line = strings.TrimRight(line, " \t\r")
		code := strings.TrimRight(line, string(b.char))
		if len(line)-len(code) < b.n || opensInList(line) {
			continue
		}
		if strings.TrimSpace(code) == "" {
			return max(begin-1, 0), after, true
		}
		return begin + len(code), after, true
	}
	return 0, 0, false
}

// opensInList reports whether line is a list item that begins with a fence, which opens a block and ends none.
func opensInList(line string) bool {
	_, bytes, item := listItem(line)
	if !item {
		return false
	}
	_, fence := barOf(line[bytes:])
	return fence
}

// A bar is a line that may open or close a block.
type bar struct {
	char   byte // '`' or '~'
	n      int  // how many of them
	indent int  // columns
	info   string
}

// barOf reads a bar: at least three backticks or tildes after white space. What follows backticks
// holds none, or the line is code in running text.
func barOf(line string) (bar, bool) {
	cols, at := indentation(line)
	line = line[at:]
	if line == "" || line[0] != '`' && line[0] != '~' {
		return bar{}, false
	}
	rest := strings.TrimLeft(line, line[:1])
	b := bar{char: line[0], n: len(line) - len(rest), indent: cols, info: strings.TrimSpace(rest)}
	if b.n < 3 || b.char == '`' && strings.Contains(rest, "`") {
		return bar{}, false
	}
	return b, true
}

// reach returns how far a fence that closes b may be indented.
func (b bar) reach() int {
	if b.indent < 4 {
		return 3
	}
	return b.indent + 3
}

// indentation returns the width of the white space that line begins with, a tab going to the next
// multiple of four, in columns and in bytes.
func indentation(line string) (cols, bytes int) {
	for bytes < len(line) {
		switch line[bytes] {
		case ' ':
			cols++
		case '\t':
			cols += 4 - cols%4
		default:
			return cols, bytes
		}
		bytes++
	}
	return cols, bytes
}

// dedent takes up to n columns of white space off line.
func dedent(line string, n int) string {
	cols, i := 0, 0
	for i < len(line) && cols < n {
		switch line[i] {
		case ' ':
			cols++
		case '\t':
			cols += 4 - cols%4
		default:
			return line[i:]
		}
		i++
	}
	return line[i:]
}

// listItem reports whether line begins a list item ("- ", "* ", "+ ", "1. ", "1) "), and where its
// text begins, in columns and in bytes.
func listItem(line string) (cols, bytes int, ok bool) {
	cols, at := indentation(line)
	s := line[at:]
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case digits > 9 || digits == len(s):
		return 0, 0, false
	case digits == 0 && !strings.Contains("-*+", s[:1]):
		return 0, 0, false
	case digits > 0 && s[digits] != '.' && s[digits] != ')':
		return 0, 0, false
	}
	rest := s[digits+1:]
	space := min(len(rest)-len(strings.TrimLeft(rest, " ")), 4)
	if space == 0 {
		return 0, 0, false
	}
	return cols + digits + 1 + space, at + digits + 1 + space, true
}

// Outside returns text without its fenced blocks, with line ends as [Blocks] wants them.
func Outside(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	at := 0
	for block := range Blocks(text) {
		b.WriteString(text[at:block.Begin])
		at = block.End
	}
	b.WriteString(text[at:])
	return b.String()
}
