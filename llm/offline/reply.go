package offline

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
)

// The finish reasons of replies, which are the endpoints'.
const (
	finishStop   = "stop"
	finishLength = "length"
)

// A reply is a text and why it ended.
type reply struct{ text, finish string }

// limit cuts r where maxTokens tokens end.
func (r *reply) limit(maxTokens int) {
	if maxTokens < tokens(r.text) {
		r.cut(maxTokens * bytesPerToken)
	}
}

// cut ends r after at most n bytes, at a whole letter, for length.
func (r *reply) cut(n int) {
	for n > 0 && !utf8.RuneStart(r.text[n]) {
		n--
	}
	*r = reply{r.text[:n], finishLength}
}

// answer replies to req; the share broken of all replies holds no whole program.
func answer(req llm.Request, broken float64) reply {
	d := draw{source(req)}
	p, ok := shown(req.Messages, d)
	if !ok {
		return reply{"I see no program in a fenced block, so there is nothing I could change.", finishStop}
	}
	syn := syntaxOf(p.language, p.text)
	defect := d.Float64() < broken
	p.text = edit(p.text, syn, d)
	if defect {
		return spoil(p, syn, d)
	}
	return reply{speak(p, d), finishStop}
}

// A program is what the prompt shows of one.
type program struct{ info, language, text string }

// shown finds the program to change: in the last user message with a block, or the last message of
// any role if no user message has one.
func shown(messages []llm.Message, d draw) (program, bool) {
	for _, role := range []string{llm.User, ""} {
		for i := len(messages) - 1; i >= 0; i-- {
			if role != "" && messages[i].Role != role {
				continue
			}
			if p := programs(messages[i].Content); len(p) > 0 {
				return p[d.IntN(len(p))], true
			}
		}
	}
	return program{}, false
}

// programs returns the blocks of text that are tagged like the last one.
func programs(text string) []program {
	var all, alike []program
	for b := range fence.Blocks(strings.ReplaceAll(text, "\r\n", "\n")) {
		if t := b.Text(); strings.TrimSpace(t) != "" {
			all = append(all, program{b.Info, b.Language(), t})
		}
	}
	for _, p := range all {
		if p.language == all[len(all)-1].language {
			alike = append(alike, p)
		}
	}
	return alike
}

var (
	openings = []string{
		"Here is the rewritten program.", "I changed some of the constants:", "This version should do better:",
		"Sure! Let me tune the parameters.", "",
	}
	closings = []string{
		"", "", "The structure is unchanged; only the numbers differ.", "Tell me the new score and I will go on.",
	}
	thoughts = []string{
		"The current numbers look like a first guess. Moving them a little may help.",
		"Let me see which constants matter here. I could try other values.",
	}
)

func one(d draw, of []string) string { return of[d.IntN(len(of))] }

// speak wraps p in the words of a model: mostly a block and a sentence or two, in a quarter of replies
// after thinking, and now and then with attributes at the fence or Windows line ends.
func speak(p program, d draw) string {
	var b strings.Builder
	if d.chance(0.25) {
		fmt.Fprintf(&b, "<think>\n%s\n</think>\n\n", think(p, d))
	}
	if s := one(d, openings); s != "" {
		b.WriteString(s + "\n\n")
	}
	info := p.language
	if info != "" && d.chance(0.05) {
		info += ` title="program"`
	}
	b.WriteString(fence.Wrap(p.text, info))
	if s := one(d, closings); s != "" {
		b.WriteString("\n\n" + s)
	}
	if d.chance(0.03) && !strings.Contains(p.text, "\r") {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// think returns what a model might think over p, sometimes with the beginning of a draft in a block.
func think(p program, d draw) string {
	s := one(d, thoughts)
	line, _, _ := strings.Cut(p.text, "\n")
	if d.chance(0.5) && !strings.Contains(line, "think>") {
		s += "\n\n" + fence.Wrap(line, p.language) + "\n\nNo, I had better write all of it."
	}
	return s
}

// spoil returns a reply to p without a whole program, in one of the ways models fail.
func spoil(p program, syn syntax, d draw) reply {
	switch d.IntN(5) {
	case 0:
		return truncate(p, d)
	case 1:
		p.text = unbalance(p.text, syn, d)
		return reply{speak(p, d), finishStop}
	case 2:
		return reply{one(d, openings) + "\n\n" + fence.Wrap("", p.language), finishStop}
	case 3:
		return reply{"I would try a finer grid and then a local search, but I cannot run the program here.", finishStop}
	}
	return reply{"<think>\n" + think(p, d) + "\n\nOn the other hand,", finishLength}
}

// truncate returns a reply that is cut off inside p, as if the cap on new tokens was reached there.
func truncate(p program, d draw) reply {
	bar, _, _ := strings.Cut(fence.Wrap(p.text, p.language), "\n")
	head := one(d, openings) + "\n\n" + bar + "\n"
	r := reply{head + p.text, finishLength}
	r.cut(len(head) + d.IntN(len(strings.TrimSpace(p.text))))
	return r
}

// unbalance takes one bracket out of text, or adds one if it has none.
func unbalance(text string, syn syntax, d draw) string {
	at := openers(text, syn)
	if len(at) == 0 {
		return text + "\n)"
	}
	i := at[d.IntN(len(at))]
	return text[:i] + text[i+1:]
}
