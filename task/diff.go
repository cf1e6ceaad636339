package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
)

// The lines that delimit the parts of a block.
const (
	searchLine  = "<<<<<<< SEARCH"
	middleLine  = "======="
	replaceLine = ">>>>>>> REPLACE"
)

// maxBlocks bounds the blocks of a diff, since each costs a pass over the program. A model that changes more places may
// as well rewrite the program.
const maxBlocks = 256

// ParseDiff reads the program out of a reply that changes parent by blocks:
//
//	<<<<<<< SEARCH
//	lines of the program
//	=======
//	lines to put in their place
//	>>>>>>> REPLACE
//
// The blocks are applied in order, each to the result of the previous ones. SEARCH is whole lines that occur in the
// program exactly once; an empty REPLACE deletes them. Line ends do not count, and new lines get the line ends of those
// they replace. If SEARCH does not occur verbatim, it is searched ignoring white space at the ends of lines; then also
// without the blank lines at either end of SEARCH and REPLACE; then all this once more without the indentation of the
// block's first line. Otherwise indentation is kept and must match.
//
// The model's thinking is dropped as by [ParseProgram]. Blocks may stand inside or outside fenced blocks, with any text
// around them. A reply without blocks, but with a fenced block, is a complete program, read by ParseProgram, unless one
// of its lines only resembles a block's.
//
// There is no program if a block is incomplete or malformed, or if its SEARCH is blank (unless the parent is), matches
// nothing, or matches more than once: err then names the block by number, and the nearest match. If nothing is changed,
// err is [ErrUnchanged]. A program with a NUL or one that is not UTF-8 is refused, as by ParseProgram. A reply may have
// 256 blocks, and a program may grow to 1 MiB, or to twice the parent's size if that is more; all blocks together may
// take passes over 1 GiB, which bounds the time to a second or two.
//
// "=======" within SEARCH or REPLACE is understood only if the program itself has such a line; of several ways to
// divide the block, the one with the longest matching SEARCH counts.
func ParseDiff(parent, reply, language string) (string, error) {
	text := fence.WithoutThinking(strings.ReplaceAll(reply, "\r\n", "\n"))
	blocks, err := blocksOf(text)
	if err != nil {
		return "", noProgram(err)
	}
	if len(blocks) == 0 {
		return parseWhole(parent, reply, text, language)
	}
	program, err := apply(parent, blocks)
	switch {
	case err != nil:
		return "", noProgram(err)
	case program == parent:
		return "", fmt.Errorf("%w: its blocks replace lines with themselves", ErrUnchanged)
	case trim(program) == "":
		return "", noProgram(errors.New("its blocks delete all of it"))
	}
	if err := checkText(program); err != nil {
		return "", noProgram(err)
	}
	return program, nil
}

func noProgram(err error) error { return fmt.Errorf("task: no program in the reply: %w", err) }

// parseWhole reads a reply without blocks; text is the reply without the thinking.
func parseWhole(parent, reply, text, language string) (string, error) {
	fenced := false
	for b := range fence.Blocks(text) {
		fenced = true
		if l := canonical(b.Language()); (l == "diff" || l == "patch") && canonical(language) != l {
			return "", noProgram(fmt.Errorf("a fenced block is tagged %s, but has no %s line", l, searchLine))
		}
	}
	if !fenced {
		if trim(text) == "" {
			return ParseProgram(reply, language) // for the reason in its error
		}
		return "", noProgram(fmt.Errorf("it has neither a %s line nor a fenced block", searchLine))
	}
	program, err := ParseProgram(text, language)
	if err == nil &&
		strings.TrimRight(program, "\n") == strings.TrimRight(strings.ReplaceAll(parent, "\r\n", "\n"), "\n") {
		return "", fmt.Errorf("%w: its program is the one it was shown", ErrUnchanged)
	}
	return program, err
}

// A block is one block of a diff.
type block struct {
	lines  []string // between the first and the last line
	middle []int    // indices of lines that are middleLine; at least one
	indent string   // indentation of the first line
}

// blocksOf returns the blocks of text, whose lines end in "\n".
func blocksOf(text string) ([]block, error) {
	var blocks []block
	open := false
	for l := range strings.SplitSeq(text, "\n") {
		bare := strings.Trim(l, " \t\r")
		n := len(blocks)
		switch {
		case bare == searchLine:
			if open {
				return nil, fmt.Errorf("block %d is not closed: another begins in it before a %s line", n, replaceLine)
			}
			if n == maxBlocks {
				return nil, fmt.Errorf("it has more than %d blocks", maxBlocks)
			}
			blocks, open = append(blocks, block{indent: l[:len(l)-len(strings.TrimLeft(l, " \t"))]}), true
		case open && bare == replaceLine:
			if len(blocks[n-1].middle) == 0 {
				return nil, fmt.Errorf("block %d has no %s line", n, middleLine)
			}
			open = false
		case open:
			b := &blocks[n-1]
			if bare == middleLine {
				b.middle = append(b.middle, len(b.lines))
			}
			b.lines = append(b.lines, l)
		case likeDelimiter(bare):
			return nil, fmt.Errorf("a line is %q, outside any block: a block begins with %s and ends with %s",
				clip(bare, 80), searchLine, replaceLine)
		}
	}
	if open {
		return nil, fmt.Errorf("block %d is not closed: the reply ends before a %s line", len(blocks), replaceLine)
	}
	return blocks, nil
}

// likeDelimiter reports whether a line seems to begin or end a block in another spelling: "<<<<<< SEARCH", "<<<<<<<
// ORIGINAL", ">>>>>>>".
func likeDelimiter(bare string) bool {
	for _, sign := range []string{"<", ">"} {
		rest := strings.TrimLeft(bare, sign)
		if len(bare)-len(rest) >= 5 && !strings.ContainsFunc(strings.TrimSpace(rest), notLetter) {
			return true
		}
	}
	return false
}

func notLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

// A reading is one interpretation of a block.
type reading struct {
	search, replace []string
	loose           bool // without regard to white space at the ends of lines
}

// readings returns the interpretations of b if the line with index at divides b, the strictest first.
func (b block) readings(at int) []reading {
	search, replace := b.lines[:at], b.lines[at+1:]
	all := strictToLoose(search, replace)
	if b.indent == "" {
		return all
	}
	s, ok1 := unindent(search, b.indent)
	r, ok2 := unindent(replace, b.indent)
	if !ok1 || !ok2 {
		return all
	}
	return append(all, strictToLoose(s, r)...)
}

func strictToLoose(search, replace []string) []reading {
	return []reading{
		{search, replace, false},
		{search, replace, true},
		{unpad(search), unpad(replace), true},
	}
}

// unindent removes indent from every line, and reports whether all nonblank lines have it.
func unindent(lines []string, indent string) ([]string, bool) {
	out := make([]string, len(lines))
	for i, l := range lines {
		rest, ok := strings.CutPrefix(l, indent)
		if !ok && trim(l) != "" {
			return nil, false
		}
		if ok {
			out[i] = rest
		}
	}
	return out, true
}

// unpad returns lines without blank lines at either end.
func unpad(lines []string) []string {
	blank := func(l string) bool { return trim(l) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return slices.Clip(lines)
}
