package edit

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
)

// maxBlocks bounds the blocks of a diff, since each costs a pass over the program. A model that changes more places may
// as well rewrite the program.
const maxBlocks = 256

// A Block replaces lines of a program.
type Block struct {
	lines  []line // between the first and the last line
	middle []int  // indices of the lines that may divide it; at least one
}

// Blocks returns the blocks of text, or the hunks of the unified diffs in it.
//
//	<<<<<<< SEARCH
//	lines of the program
//	=======
//	lines to put in their place
//	>>>>>>> REPLACE
//
// Their delimiters may vary in the number of signs, the case, the words and a colon. Blocks and hunks stand inside or
// outside of fences. There may be 256.
func Blocks(text string) ([]Block, error) {
	var blocks []Block
	open := false
	for _, l := range linesOf(text) {
		n := len(blocks)
		switch sign := SignOf(l.text); {
		case sign == Search && open:
			return nil, fmt.Errorf("block %d is not closed: another begins in it before a %s line", n, ReplaceLine)
		case sign == Search && n == maxBlocks:
			return nil, fmt.Errorf("it has more than %d blocks", maxBlocks)
		case sign == Search:
			blocks, open = append(blocks, Block{}), true
		case sign == Replace && !open:
			return nil, fmt.Errorf("a line is %q, outside any block: a block begins with %s and ends with %s",
				clip(l.text), SearchLine, ReplaceLine)
		case sign == Replace:
			if open = false; !blocks[n-1].divide() {
				return nil, fmt.Errorf("block %d has no %s line", n, MiddleLine)
			}
		case open:
			blocks[n-1].lines = append(blocks[n-1].lines, l)
		}
	}
	if open {
		return nil, fmt.Errorf("block %d is not closed: the reply ends before a %s line", len(blocks), ReplaceLine)
	}
	if len(blocks) == 0 {
		return hunksOf(text)
	}
	return blocks, nil
}

// divide finds the lines that may divide b: those that prompts show, or else those with more or fewer signs.
func (b *Block) divide() bool {
	for _, exact := range []bool{true, false} {
		for i, l := range b.lines {
			if SignOf(l.text) == Middle && (!exact || isMiddle(l)) {
				b.middle = append(b.middle, i)
			}
		}
		if len(b.middle) > 0 {
			return true
		}
	}
	return false
}

func isMiddle(l line) bool { return strings.Trim(l.text, " \t\r") == MiddleLine }

// hunkHead is what a unified diff has, or the patch that Codex writes.
var hunkHead = regexp.MustCompile(`(?m)^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|^\*\*\* Begin Patch`)

// hunksOf returns the hunks of the unified diffs in text.
func hunksOf(text string) (blocks []Block, err error) {
	fenced := false
	for b := range fence.Blocks(text) {
		fenced = true
		tag := fence.Name(b.Language())
		if diff := tag == "diff" || tag == "patch"; diff || hunkHead.MatchString(b.Text()) {
			blocks = appendHunks(blocks, b.Text(), true)
			if diff && len(blocks) == 0 {
				return nil, fmt.Errorf("a fenced block is tagged %s, but has no %s line and no change", tag, SearchLine)
			}
		}
	}
	if !fenced && hunkHead.MatchString(text) {
		blocks = appendHunks(blocks, text, false)
	}
	if len(blocks) > maxBlocks {
		return nil, fmt.Errorf("it has more than %d blocks", maxBlocks)
	}
	return blocks, nil
}

// appendHunks appends the hunks of a unified diff. within means that it is all of text. Lines of a hunk that have lost
// their sign are context then, and otherwise end it.
func appendHunks(blocks []Block, text string, within bool) []Block {
	var search, replace []line
	changes, in, bare := false, within, within // bare: without heads, where each change may stand elsewhere
	end := func() {
		if changes {
			blocks = append(blocks, Block{append(append(search, line{}), replace...), []int{len(search)}})
		}
		search, replace, changes = nil, nil, false
	}
	lines := linesOf(text)
	for i, l := range lines {
		sign, rest := "", line{l.text, l.end}
		if l.text != "" {
			sign, rest.text = l.text[:1], l.text[1:]
		}
		switch header := strings.HasPrefix(l.text, "--- ") && i+1 < len(lines) &&
			strings.HasPrefix(lines[i+1].text, "+++ "); {
		case header, strings.HasPrefix(l.text, "diff --git "), strings.HasPrefix(l.text, "*** "):
			end()
			in, bare = false, false
		case strings.HasPrefix(l.text, "@@"):
			end()
			in, bare = true, false
		case !in || sign == `\`:
		case sign == "-" && bare && i > 0 && strings.HasPrefix(lines[i-1].text, "+"):
			end()
			search, changes = []line{rest}, true
		case sign == "-":
			search, changes = append(search, rest), true
		case sign == "+":
			replace, changes = append(replace, rest), true
		case sign == " " || sign == "":
			search, replace = append(search, rest), append(replace, rest)
		case within:
			search, replace = append(search, l), append(replace, l)
		default:
			end()
			in = false
		}
	}
	end()
	return blocks
}
