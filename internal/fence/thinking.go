package fence

import (
	"regexp"
	"strings"
)

// The tags around what a model thinks before it answers.
const thinkTag = `(?:(?:seed:)?think|thinking|thoughts?|reasoning|reflection|scratchpad)`

var (
	opensThinking  = regexp.MustCompile(`(?i)^[ \t\x{FEFF}]*[<\[◁]` + thinkTag + `(?:\s[^<>\n]*)?[>\]▷]`)
	closesThinking = regexp.MustCompile(`(?i)[<\[◁]/` + thinkTag + `[ \t]*[>\]▷]`)
	// strayClosing is a closing tag that begins or ends its line, or stands right after a word: not the talk of one.
	strayClosing = regexp.MustCompile(`(?im)(?:^[ \t]*|[\pL\pN.:!?])[<\[◁]/` + thinkTag + `[ \t]*[>\]▷]|[<\[◁]/` +
		thinkTag + `[ \t]*[>\]▷][ \t]*$`)
)

// The heads of harmony's channels, with their special tokens and where a server has dropped these, and what ends one.
var (
	channel = regexp.MustCompile(`<\|channel\|>\s*(analysis|commentary|final)` +
		`(?:[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>)?`)
	channelEnd  = regexp.MustCompile(`<\|(?:end|return|call)\|>\s*(?:<\|start\|>|$)|<\|start\|>assistant|<\|channel\|>`)
	bareStart   = regexp.MustCompile(`^(?:assistant)?(?:analysis|commentary)`)
	bareChannel = regexp.MustCompile(`assistant(analysis|commentary|final)`)
	unfinished  = regexp.MustCompile(`^analysis[A-Z]`)
)

const white = " \t\r\n\v\f\uFEFF"

// WithoutThinking returns text, whose lines end in "\n", without the model's thinking. That is
//
//   - all but the final channel, if the text has harmony's channels,
//   - each section between tags such as <think> and </think>, the first of which begins a line outside of the blocks,
//     up to the end of the text if nothing closes it,
//   - everything up to a closing tag without an opening one, since some templates put that into the prompt. Such a tag
//     begins or ends a line outside of the closed blocks, or stands right after a word.
//
// It takes time linear in the length of text.
func WithoutThinking(text string) string {
	text = withoutSections(finalChannel(text))
	if !closesThinking.MatchString(text) {
		return text
	}
	end, pos := 0, 0
	stray := func(to int) {
		if all := strayClosing.FindAllStringIndex(text[pos:to], -1); len(all) > 0 {
			end = pos + all[len(all)-1][1]
		}
	}
	for b := range Blocks(text) {
		if b.Closed { // in which a tag belongs to a program
			stray(b.Begin)
			pos = b.End
		}
	}
	stray(len(text))
	return text[end:]
}

// finalChannel returns the text of the final channels, or text if it has none of harmony's channels.
func finalChannel(text string) string {
	bare := strings.Trim(text, white)
	switch {
	case strings.HasPrefix(bare, "<|") && channel.MatchString(bare) || channel.MatchString(Outside(text)):
		return finals(bare, channel, channelEnd)
	case bareStart.MatchString(bare) && bareChannel.MatchString(bare) || strings.Contains(Outside(text), "assistantfinal"):
		return finals(bare, bareChannel, bareChannel)
	case unfinished.MatchString(bare):
		return ""
	}
	return text
}

func finals(text string, head, end *regexp.Regexp) string {
	var found []string
	for _, m := range head.FindAllStringSubmatchIndex(text, -1) {
		if rest := text[m[1]:]; text[m[2]:m[3]] == "final" {
			if e := end.FindStringIndex(rest); e != nil {
				rest = rest[:e[0]]
			}
			found = append(found, rest)
		}
	}
	return strings.Join(found, "\n")
}

// withoutSections returns text without the sections of thinking that have an opening tag.
func withoutSections(text string) string {
	text = strings.TrimPrefix(text, "\uFEFF")
	var b strings.Builder
	s, at, closes := scanner{text: text}, 0, true // at is where the text begins that is not in b yet
	for s.pos < len(text) {
		line, _, _ := strings.Cut(text[s.pos:], "\n")
		if tag := opensThinking.FindStringIndex(line); tag != nil && !s.open {
			begin, end := s.pos, len(text)
			var closing []int
			first, form := b.Len() == 0 && strings.Trim(text[at:begin], white) == "", closesThinking
			if !first { // it may be the talk of tags
				form = strayClosing
			}
			if closes {
				closing = form.FindStringIndex(text[begin+tag[1]:])
			}
			if closes = closing != nil; closes {
				end = begin + tag[1] + closing[1]
			}
			if closes || first || strings.Trim(line[tag[1]:], white) == "" {
				b.WriteString(text[at:begin])
				s.pos, at = end, end
				continue
			}
		}
		s.line()
	}
	b.WriteString(text[at:])
	return b.String()
}
