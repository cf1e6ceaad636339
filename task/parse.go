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
// A block is CommonMark's: three or more backticks or tildes, indented by up to three columns or as far as the list
// item it stands in, an info string that may have attributes, and a closing fence at least as long; the last one may be
// unclosed. A block that is not closed when another of its kind opens ends there. Blank blocks are ignored. The program
// is the text between the fences, without the line end before the closing one.
//
// There is no program, and err says why, if nothing is left, or if the program has a NUL or is not UTF-8 and could not
// be journaled faithfully. ParseProgram takes time linear in the reply.
func ParseProgram(reply, language string) (string, error) {
	text := fence.WithoutThinking(strings.ReplaceAll(reply, "\r\n", "\n"))
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

// firstBlock returns the first nonblank block of the language, or else of any language, and whether there is any block.
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

// space is what trimming takes off: ASCII white space and the byte order mark.
const space = " \t\r\n\v\f\uFEFF"

func trim(s string) string { return strings.Trim(s, space) }
