package offline

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/lex"
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
	for n > 0 && n < len(r.text) && !utf8.RuneStart(r.text[n]) {
		n--
	}
	*r = reply{r.text[:n], finishLength}
}

// answer replies to req as c says.
func answer(req llm.Request, c Config) reply {
	if c.Few > 0 {
		req.Seed %= uint32(c.Few)
	}
	d := draw{source(req)}
	said := c.reads(req)
	if c.Insights && spokenSummary.MatchString(said) {
		return reply{summary(lastUser(req.Messages)), finishStop}
	}
	want := heeded(said, c.Heed, d)
	all := shown(req.Messages)
	if len(all) == 0 {
		return reply{"I see no program in a fenced block, so there is nothing I could change.", finishStop}
	}
	i := d.IntN(len(all))
	if want.first {
		i = 0
	}
	p := all[i]
	syn := lex.Likely(p.language, p.text)
	defect := d.Float64() < c.defects(req)
	if c.Splice > 0 && len(all) > 1 && spokenCross.MatchString(said) && d.chance(c.Splice) {
		donor := all[(i+1+d.IntN(len(all)-1))%len(all)]
		p.text, p.altered = splice(p.text, donor.text, syn, d), true
	} else if c.Prose > 0 && p.language == "" && d.chance(c.Prose) {
		p.text, p.altered = reword(p.text, said, d), true
	} else {
		p.text, p.altered = c.rewrite(p.text, syn, want, d)
	}
	if defect {
		return spoil(p, syn, d)
	}
	return reply{speak(p, d), finishStop}
}

// reads returns what req says besides programs, if c has an ability that heeds it.
func (c Config) reads(req llm.Request) string {
	if !c.Insights && c.Heed == 0 && c.Splice == 0 && c.Prose == 0 {
		return ""
	}
	return proseOf(lastUser(req.Messages))
}

// defects is the share of replies to req that hold no whole program.
func (c Config) defects(req llm.Request) float64 {
	if c.Long == 0 {
		return c.Broken
	}
	return 1 - (1-max(c.Broken, 0))*math.Exp(-c.Long*float64(usage(req.Messages, "").PromptTokens)/1000)
}

// tuned is the share of replies with a new structure in which numbers are changed as well.
const tuned = 0.3

// rewrite returns program changed, and whether more than its numbers may be.
func (c Config) rewrite(program string, syn lex.Language, want wish, d draw) (text string, altered bool) {
	if want.line > 0 {
		if text, ok := editLine(program, want.line, syn, d); ok {
			return text, true
		}
	}
	asked := want.bold || want.simpler || want.prefer != 0
	if c.Structure > 0 && syn == lex.JavaScript && !want.numbers && (asked || d.chance(c.Structure)) {
		if text, ok := restructure(program, d, want); ok {
			if d.chance(tuned) {
				text = edit(text, syn, d)
			}
			return text, true
		}
	}
	text = edit(program, syn, d)
	for i := 1; want.bold && i < 3; i++ {
		text = edit(text, syn, d)
	}
	return text, false
}

// A program is what the prompt shows of one.
type program struct {
	info, language, text string
	altered              bool // whether more than its numbers may have been changed
}

// shown returns the programs of which one is to be changed: those in the last user message with a block, or in the
// last message of any role if no user message has one.
func shown(messages []llm.Message) []program {
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

// programs returns the blocks of text that are tagged like the last one.
func programs(text string) []program {
	var all, alike []program
	for b := range fence.Blocks(strings.ReplaceAll(text, "\r\n", "\n")) {
		if t := b.Text(); strings.TrimSpace(t) != "" {
			all = append(all, program{info: b.Info, language: b.Language(), text: t})
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
	// Of a program that is altered otherwise.
	openingsAltered = []string{
		"Here is the rewritten program.", "I tried another rule:", "This version should do better:", "Sure! Let me change how it works.", "",
	}
	closingsAltered = []string{
		"", "", "The constants are first guesses.", "Tell me the new score and I will go on.",
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
	before, after := openings, closings
	if p.altered {
		before, after = openingsAltered, closingsAltered
	}
	if s := one(d, before); s != "" {
		b.WriteString(s + "\n\n")
	}
	info := p.language
	if info != "" && d.chance(0.05) {
		info += ` title="program"`
	}
	b.WriteString(fence.Wrap(p.text, info))
	if s := one(d, after); s != "" {
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
func spoil(p program, syn lex.Language, d draw) reply {
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
	r.cut(len(head) + d.IntN(max(1, len(strings.TrimSpace(p.text))))) // an edit may leave nothing of a program
	return r
}

// unbalance takes one bracket out of text, or adds one if it has none.
func unbalance(text string, syn lex.Language, d draw) string {
	at := syn.Openers(text)
	if len(at) == 0 {
		return text + "\n)"
	}
	i := at[d.IntN(len(at))]
	return text[:i] + text[i+1:]
}
