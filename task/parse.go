package task

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
)

// ParseProgram reads the program out of a reply: the first block fenced with language or another
// name of it ("js" for "javascript"), whatever the case; else the first fenced block of any
// language; else the whole text, trimmed. A language of "" takes the first block.
//
// Before that, "\r\n" becomes "\n", and the model's thinking is dropped: sections between <think>
// and </think> at the start, all of the reply if the last is not closed, and, since some templates
// put the opening tag into the prompt, everything up to the last </think> that begins or ends a line
// outside a closed block.
//
// A block is CommonMark's: three or more backticks or tildes, indented by up to three columns or as
// far as the list item it stands in, an info string that may have attributes, and a closing fence at
// least as long; the last one may be unclosed. A block that is not closed when another of its kind
// opens ends there. Blocks of white space alone are passed over. The program is what stands between
// the fences, without the line end before the closing one.
//
// There is no program, and err says why, if nothing is left, or if the program has a NUL or is not
// UTF-8: it could not be journaled and read back as it was. It takes time linear in the reply.
func ParseProgram(reply, language string) (string, error) {
	text := dropThinking(strings.ReplaceAll(reply, "\r\n", "\n"))
	program, fenced := firstBlock(text, canonical(language))
	if !fenced {
		program = trim(text)
	}
	switch {
	case trim(program) != "":
	case fenced:
		return "", errors.New("task: no program in the reply: its fenced blocks are empty")
	case trim(reply) != "":
		return "", errors.New("task: no program in the reply: it is all thinking")
	default:
		return "", errors.New("task: no program in the reply: it is empty")
	}
	if err := checkText(program); err != nil {
		return "", fmt.Errorf("task: no program in the reply: %w", err)
	}
	return program, nil
}

// firstBlock returns the first block of the language, else the first of any, that holds more than
// white space, and whether there is any block at all.
func firstBlock(text, language string) (program string, fenced bool) {
	found := false
	for b := range fence.Blocks(text) {
		fenced = true
		if found && canonical(b.Language()) != language {
			continue
		}
		t := b.Text()
		if trim(t) == "" {
			continue
		}
		if language == "" || canonical(b.Language()) == language {
			return t, true
		}
		program, found = t, true
	}
	return program, fenced
}

const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// dropThinking returns text without the thinking that it begins with.
func dropThinking(text string) string {
	text = strings.TrimPrefix(text, "\uFEFF")
	for {
		thinking, ok := strings.CutPrefix(strings.TrimLeft(text, space), openThink)
		if !ok {
			return text[strayClose(text):]
		}
		if _, text, ok = strings.Cut(thinking, closeThink); !ok {
			return ""
		}
	}
}

// strayClose returns where the last closing tag without an opening one ends, 0 if there is none: one
// that begins or ends a line and does not stand in a closed block, where it belongs to a program.
func strayClose(text string) int {
	if !strings.Contains(text, closeThink) {
		return 0
	}
	end, pos := 0, 0
	for b := range fence.Blocks(text) {
		if b.Closed {
			end = max(end, lastClose(text, pos, b.Begin))
			pos = b.End
		}
	}
	return max(end, lastClose(text, pos, len(text)))
}

// lastClose returns where the last closing tag of text[from:to] that begins or ends a line ends, 0
// if there is none. from and to are where lines begin.
func lastClose(text string, from, to int) int {
	end := 0
	for pos := from; pos < to; {
		line, _, _ := strings.Cut(text[pos:to], "\n")
		bare := strings.TrimRight(line, " \t")
		left := len(bare) - len(strings.TrimLeft(bare, " \t"))
		switch {
		case strings.HasSuffix(bare, closeThink):
			end = pos + len(bare)
		case strings.HasPrefix(bare[left:], closeThink):
			end = pos + left + len(closeThink)
		}
		pos += len(line) + 1
	}
	return end
}

// space is what trimming takes off: ASCII white space and the byte order mark.
const space = " \t\r\n\v\f\uFEFF"

func trim(s string) string { return strings.Trim(s, space) }
