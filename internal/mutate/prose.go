package mutate

import (
	"slices"
	"strings"
	"unicode"
)

// Prose returns a prompt, or another text without a language, with a line changed: a sentence that said quotes is
// added or takes the place of a line, or lines are taken out or change places. In a quarter of replies there are two
// such changes, in some more. It is blind to what any sentence means.
func Prose(text, said string, d Draw) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	sentences := quotedSentences(said)
	for {
		lines = d.rewordOnce(lines, sentences)
		if !d.Chance(0.25) {
			return strings.Join(lines, "\n")
		}
	}
}

// rewordOnce makes one change.
func (d Draw) rewordOnce(lines, sentences []string) []string {
	at := d.IntN(len(lines))
	switch u := d.Float64(); {
	case u < 0.65 && len(sentences) > 0:
		return slices.Insert(lines, at+1, d.One(sentences))
	case u < 0.75 && len(sentences) > 0:
		lines[at] = d.One(sentences)
	case u < 0.9 && len(lines) > 1:
		return slices.Delete(lines, at, at+1)
	default:
		other := d.IntN(len(lines))
		lines[at], lines[other] = lines[other], lines[at]
	}
	return lines
}

// quotedSentences returns the sentences of lines that begin with ">", which is how prompts show feedback and notes:
// what ends in a full stop, without a label before it such as "feedback:". Those that say what was asked or answered
// are left out.
func quotedSentences(said string) (list []string) {
	for line := range strings.Lines(said) {
		quoted, ok := strings.CutPrefix(line, ">")
		quoted = strings.TrimSpace(quoted)
		if label, rest, labelled := strings.Cut(quoted, ": "); labelled && !strings.ContainsFunc(label, unicode.IsSpace) {
			if label == "input" || label == "reply" {
				continue
			}
			quoted = strings.TrimSpace(rest)
		}
		if ok && strings.HasSuffix(quoted, ".") && len(quoted) <= 200 && !slices.Contains(list, quoted) {
			list = append(list, quoted)
		}
	}
	return list
}
