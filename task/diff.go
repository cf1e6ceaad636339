package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
)

// The lines that a block of a diff is made of.
const (
	searchLine  = "<<<<<<< SEARCH"
	middleLine  = "======="
	replaceLine = ">>>>>>> REPLACE"
)

// maxBlocks is how many blocks of a diff are read. Each costs a pass over the program, so their number has to
// be bounded. A model that changes more places may as well write the program anew.
const maxBlocks = 256

// ParseDiff reads the program out of a reply that says what to change in parent, in blocks:
//
//	<<<<<<< SEARCH
//	lines of the program
//	=======
//	lines to put in their place
//	>>>>>>> REPLACE
//
// The blocks are applied in order, each to what the ones before have made. SEARCH is whole lines that
// stand in the program exactly once; none to put in their place deletes them. Line ends do not count,
// and new lines get those of the lines they replace. If SEARCH is not there as it is written, it is
// looked for without regard to white space at the ends of lines; then also without the blank lines
// that SEARCH and REPLACE begin and end with; then all this once more with the indentation of the
// block's first line taken off. Indentation is otherwise kept and has to match.
//
// The model's thinking is dropped as [ParseProgram] does. Blocks may stand in fenced blocks or
// outside, with any text around them. A reply without any, but with a fenced block, is a complete
// program, read by ParseProgram; one in which a line only looks like a block's is not.
//
// There is no program if a block is not whole or not like the above, if its SEARCH is blank (but for
// a blank parent), matches nothing, or matches more than once: err then names the block by its
// number, and what comes nearest to it. If nothing is changed, err is [ErrUnchanged]. A program with
// a NUL or that is not UTF-8 is none, as with ParseProgram. More than 256 blocks are not read, and a block may
// make a program of 1 MiB, or of twice the parent's size if that is more; blocks that take passes over more
// than 1 GiB in all are not applied, which bounds the time to a second or two.
//
// "=======" within SEARCH or REPLACE is understood only if the program itself has such a line; of
// several ways to divide the block, the one with the longest SEARCH that matches is meant.
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

// parseWhole reads a reply without blocks; text is all of it but the thinking.
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
			return ParseProgram(reply, language) // which says why
		}
		return "", noProgram(fmt.Errorf("it has neither a %s line nor a fenced block", searchLine))
	}
	program, err := ParseProgram(text, language)
	if err == nil && strings.TrimRight(program, "\n") == strings.TrimRight(strings.ReplaceAll(parent, "\r\n", "\n"), "\n") {
		return "", fmt.Errorf("%w: its program is the one it was shown", ErrUnchanged)
	}
	return program, err
}

// A block is one block of a diff.
type block struct {
	lines  []string // between its first and last line
	middle []int    // those of lines that are middleLine; at least one
	indent string   // white space that its first line begins with
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
			return nil, fmt.Errorf("a line is %q, outside any block: a block begins with %s and ends with %s", clip(bare, 80), searchLine, replaceLine)
		}
	}
	if open {
		return nil, fmt.Errorf("block %d is not closed: the reply ends before a %s line", len(blocks), replaceLine)
	}
	return blocks, nil
}

// likeDelimiter reports whether a line is meant to begin or end a block but written differently:
// "<<<<<< SEARCH", "<<<<<<< ORIGINAL", ">>>>>>>".
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

// A reading is one way to understand a block.
type reading struct {
	search, replace []string
	loose           bool // without regard to white space at the ends of lines
}

// readings returns the ways to understand b if the line of index at divides it, the strictest first.
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

// unindent takes indent off every line, and reports whether every one that is not blank has it.
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

// unpad returns lines without the blank ones at either end.
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
