package offline

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/internal/mutate"
	"github.com/evoalloc/evoalloc/llm"
)

// The finish reasons of replies, which are the endpoints'.
const (
	finishStop   = "stop"
	finishLength = "length"
)

// A reply is a text and its finish reason.
type reply struct{ text, finish string }

// limit cuts r after maxTokens tokens.
func (r *reply) limit(maxTokens int) {
	if maxTokens < tokens(r.text) {
		r.cut(maxTokens * bytesPerToken)
	}
}

// cut ends r after at most n bytes, at a whole letter, for length.
func (r *reply) cut(n int) {
	for n > 0 && n < len(r.text) && !utf8.RuneStart(r.text[n]) {
		n--
	}
	*r = reply{r.text[:n], finishLength}
}

// answer replies to req under c. Recorded runs depend on the number and the order of its draws.
func answer(req llm.Request, c Config) reply {
	d := mutate.Draw{Rand: source(req)}
	message := lastUser(req.Messages)
	var plan Plan
	if c.Read != nil {
		if plan = c.Read(message, d.Rand); plan.Text != "" {
			return reply{plan.Text, finishStop}
		}
	}
	all := shown(req.Messages)
	if len(all) == 0 {
		return reply{"I see no program in a fenced block, so there is nothing I could change.", finishStop}
	}
	i := d.IntN(len(all))
	if plan.First {
		i = 0
	}
	defect := d.Float64() < c.Broken
	p := draft{language: all[i].Language}
	if plan.Change != nil {
		p.text, p.altered = plan.Change(all, i)
	} else {
		p.text, p.altered = c.change(all[i], message, d)
	}
	if defect {
		return spoil(p, d)
	}
	return reply{speak(p, d), finishStop}
}

// change returns p changed, and whether more than its numbers may have changed.
func (c Config) change(p Program, message string, d mutate.Draw) (text string, altered bool) {
	if c.Prose > 0 && p.Language == "" && d.Chance(c.Prose) {
		return mutate.Prose(p.Text, fence.Outside(message), d), true
	}
	return mutate.Numbers(p.Text, lex.Likely(p.Language, p.Text), d, mutate.Temper(c.Temper)), false
}

// source returns the stream of random numbers that req's seed and messages address.
func source(req llm.Request) *rand.Rand {
	h := sha256.New()
	h.Write([]byte("evoalloc/llm/offline 1"))
	h.Write(binary.BigEndian.AppendUint32(nil, req.Seed))
	for _, m := range req.Messages {
		for _, s := range []string{m.Role, m.Content} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
			h.Write([]byte(s))
		}
	}
	var seed [32]byte
	h.Sum(seed[:0])
	return rand.New(rand.NewChaCha8(seed))
}

// lastUser returns the last message of a user, or the last of all.
func lastUser(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.User {
			return messages[i].Content
		}
	}
	return messages[len(messages)-1].Content
}

// shown returns the programs to choose from: those in the last user message with a block, or in the last message of any
// role if no user message has one.
func shown(messages []llm.Message) []Program {
	for _, role := range []string{llm.User, ""} {
		for i := len(messages) - 1; i >= 0; i-- {
			if role != "" && messages[i].Role != role {
				continue
			}
			if p := programs(messages[i].Content); len(p) > 0 {
				return p
			}
		}
	}
	return nil
}

// programs returns the blocks of text that are tagged like the last one, those that are not to be changed last.
func programs(text string) []Program {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var all, alike, others []Program
	var kept []bool // not to be changed
	at := 0
	for b := range fence.Blocks(text) {
		if t := b.Text(); strings.TrimSpace(t) != "" {
			all = append(all, Program{b.Language(), t})
			kept = append(kept, strings.Contains(text[at:b.Begin], "not to be changed"))
		}
		at = b.End
	}
	for i, p := range all {
		switch {
		case p.Language != all[len(all)-1].Language:
		case kept[i]:
			others = append(others, p)
		default:
			alike = append(alike, p)
		}
	}
	return append(alike, others...)
}

// A draft is the program of a reply.
type draft struct {
	language, text string
	altered        bool // whether more than numbers may have been changed
}

var (
	openings = []string{
		"Here is the rewritten program.", "I changed some of the constants:", "This version should do better:",
		"Sure! Let me tune the parameters.", "",
	}
	closings = []string{
		"", "", "The structure is unchanged; only the numbers differ.", "Tell me the new score and I will go on.",
	}
	// The openings for a program with other changes.
	openingsAltered = []string{
		"Here is the rewritten program.", "I tried another rule:", "This version should do better:",
		"Sure! Let me change how it works.", "",
	}
	closingsAltered = []string{
		"", "", "The constants are first guesses.", "Tell me the new score and I will go on.",
	}
	thoughts = []string{
		"The current numbers look like a first guess. Moving them a little may help.",
		"Let me see which constants matter here. I could try other values.",
	}
)

// speak wraps p in the words of a model: mostly a block and a sentence or two, in a quarter of replies
// after thinking, and now and then with attributes at the fence or Windows line ends.
func speak(p draft, d mutate.Draw) string {
	var b strings.Builder
	if d.Chance(0.25) {
		fmt.Fprintf(&b, "<think>\n%s\n</think>\n\n", think(p, d))
	}
	before, after := openings, closings
	if p.altered {
		before, after = openingsAltered, closingsAltered
	}
	if s := d.One(before); s != "" {
		b.WriteString(s + "\n\n")
	}
	info := p.language
	if info != "" && d.Chance(0.05) {
		info += ` title="program"`
	}
	b.WriteString(fence.Wrap(p.text, info))
	if s := d.One(after); s != "" {
		b.WriteString("\n\n" + s)
	}
	if d.Chance(0.03) && !strings.Contains(p.text, "\r") {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// think returns a model's thoughts on p, sometimes with the beginning of a draft in a block.
func think(p draft, d mutate.Draw) string {
	s := d.One(thoughts)
	line, _, _ := strings.Cut(p.text, "\n")
	if d.Chance(0.5) && !strings.Contains(line, "think>") {
		s += "\n\n" + fence.Wrap(line, p.language) + "\n\nNo, I had better write all of it."
	}
	return s
}

// spoil returns a reply to p without a whole program, in one of the ways that models fail.
func spoil(p draft, d mutate.Draw) reply {
	switch d.IntN(5) {
	case 0:
		return truncate(p, d)
	case 1:
		p.text = unbalance(p.text, d)
		return reply{speak(p, d), finishStop}
	case 2:
		return reply{d.One(openings) + "\n\n" + fence.Wrap("", p.language), finishStop}
	case 3:
		return reply{"I would try a finer grid and then a local search, but I cannot run the program here.", finishStop}
	}
	return reply{"<think>\n" + think(p, d) + "\n\nOn the other hand,", finishLength}
}

// truncate returns a reply that is cut off inside p, as if by the cap on new tokens.
func truncate(p draft, d mutate.Draw) reply {
	bar, _, _ := strings.Cut(fence.Wrap(p.text, p.language), "\n")
	head := d.One(openings) + "\n\n" + bar + "\n"
	r := reply{head + p.text, finishLength}
	r.cut(len(head) + d.IntN(max(1, len(strings.TrimSpace(p.text))))) // an edit may leave an empty program
	return r
}

// unbalance removes one bracket from text, or adds one if it has none.
func unbalance(text string, d mutate.Draw) string {
	var at []int
	for i := range len(text) {
		if strings.IndexByte("[({", text[i]) >= 0 {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return text + "\n)"
	}
	i := at[d.IntN(len(at))]
	return text[:i] + text[i+1:]
}
