package fence

import "strings"

// The tags around what a model thinks before it answers.
const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// WithoutThinking returns text without the thinking that it begins with.
func WithoutThinking(text string) string {
	text = strings.TrimPrefix(text, "\uFEFF")
	for {
		thinking, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n\v\f\uFEFF"), openThink)
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
	for b := range Blocks(text) {
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
