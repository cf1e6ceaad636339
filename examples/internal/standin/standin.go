// Package standin makes the offline model heed what prompts ask for, so that what a search does with its prompts
// matters offline: crosses splice programs, instructions and notes are followed, and attempts are summed up. It is
// blind to what programs are worth, but for the scores that a prompt shows.
package standin

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/internal/mutate"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// Abilities are what the offline model does beyond changing numbers, each a share or a chance from 0 to 1. With none,
// its replies are those of the plain model, to the byte.
type Abilities struct {
	Structure, Prose float64 // those of [offline.Config]
	// Splice is the chance that a request to combine programs, of which several are shown, is obeyed: a statement or
	// an expression of one takes a place in another, or lines do in languages other than JavaScript. It is blind to
	// merit, and in a fifth of splices a name is misspelt.
	Splice float64
	// Heed is the chance that each thing is obeyed that the instruction or a note asks for in words that the model
	// knows: to change numbers alone, to try something different or simpler, to fix the line that is named, to
	// change the program that is named, to use or avoid an idiom such as "a ratio" or "Math.min". A wrong note
	// misleads as much as a right one helps.
	Heed float64
	// Insights is whether a request for a summary or for insights is answered by the idiom whose attempts, of those
	// that the prompt shows with their scores, have the best mean score.
	Insights bool
}

// Config returns the configuration of an offline model with abilities a.
func (a Abilities) Config() offline.Config {
	c := offline.Config{Structure: a.Structure, Prose: a.Prose}
	if a.Splice > 0 || a.Heed > 0 || a.Insights {
		c.Read = a.read
	}
	return c
}

// String prints a as journals of earlier versions have it in their fingerprints, which tell by it whether a run is the
// same: as a struct of which these are a part.
func (a Abilities) String() string {
	return fmt.Sprintf("{Model:%v Broken:0 Latency:0s Structure:%v Splice:%v Heed:%v Insights:%v Prose:%v Few:0 Long:0}",
		llm.Model{}, a.Structure, a.Splice, a.Heed, a.Insights, a.Prose)
}

var spokenCross = regexp.MustCompile(`(?i)\b(combin(e|es|ing)|cross(over)?|merg(e|es|ing)|` +
	`recombin(e|ing)|splic(e|ing))\b`)

// read decides how the reply to message is made.
func (a Abilities) read(message string, r *rand.Rand) offline.Plan {
	said, d := fence.Outside(message), mutate.Draw{Rand: r}
	if a.Insights && spokenSummary.MatchString(said) {
		return offline.Plan{Text: summary(message)}
	}
	want := heeded(said, a.Heed, d)
	cross := a.Splice > 0 && spokenCross.MatchString(said)
	return offline.Plan{First: want.first, Change: func(shown []offline.Program, i int) (string, bool) {
		p := shown[i]
		syn := lex.Likely(p.Language, p.Text)
		if cross && len(shown) > 1 && d.Chance(a.Splice) {
			donor := shown[(i+1+d.IntN(len(shown)-1))%len(shown)]
			return mutate.Splice(p.Text, donor.Text, syn, d), true
		}
		if a.Prose > 0 && p.Language == "" && d.Chance(a.Prose) {
			return mutate.Prose(p.Text, said, d), true
		}
		return a.rewrite(p.Text, syn, want, d)
	}}
}

// tuned is the share of replies with a new structure in which numbers are changed as well.
const tuned = 0.3

// rewrite returns program changed as want has it, and whether more than its numbers may be.
func (a Abilities) rewrite(program string, syn lex.Language, want wish, d mutate.Draw) (text string, altered bool) {
	if want.line > 0 {
		if text, ok := editLine(program, want.line, syn, d); ok {
			return text, true
		}
	}
	asked := want.Bold || want.Simpler || want.Prefer != 0
	if a.Structure > 0 && syn == lex.JavaScript && !want.numbers && (asked || d.Chance(a.Structure)) {
		if text, ok := mutate.Structure(program, want.Bias, d); ok {
			if d.Chance(tuned) {
				text = mutate.Numbers(text, syn, d)
			}
			return text, true
		}
	}
	text = mutate.Numbers(program, syn, d)
	for i := 1; want.Bold && i < 3; i++ {
		text = mutate.Numbers(text, syn, d)
	}
	return text, false
}

// editLine changes one line of a program: its numbers, or it takes the line out. It reports false if there is no
// such line.
func editLine(program string, n int, syn lex.Language, d mutate.Draw) (string, bool) {
	lines := strings.SplitAfter(program, "\n")
	if n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) == "" {
		return program, false
	}
	changed := mutate.Numbers(lines[n-1], syn, d)
	if changed == lines[n-1] || d.Chance(0.3) {
		changed = ""
	}
	lines[n-1] = changed
	return strings.Join(lines, ""), true
}
