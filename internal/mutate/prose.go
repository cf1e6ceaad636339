package mutate

import (
	"regexp"
	"slices"
	"strings"
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

// quoted matches a sentence on a line that begins with ">", which is how prompts show feedback and notes. One that says
// what was asked or answered has a label.
var quoted = regexp.MustCompile(`(?m)^> *(?:feedback: *)?([^:\n]{1,200}\.)[ \t]*$`)

func quotedSentences(said string) (list []string) {
	for _, m := range quoted.FindAllStringSubmatch(said, -1) {
		list = append(list, m[1])
	}
	return list
}
