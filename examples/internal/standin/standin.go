// Package standin makes the offline model heed what prompts ask for, so that what a search does with its prompts
// matters offline: crosses splice programs, instructions are followed, and attempts are summed up. It is
// blind to what programs are worth, but for the scores that a prompt shows.
package standin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/internal/mutate"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// Abilities are what the offline model does beyond changing numbers, each a share or a chance from 0 to 1. With none,
// its replies are those of the plain model, to the byte.
type Abilities struct {
	Prose float64 // that of [offline.Config]
	// Splice is the chance that a request to combine programs, of which several are shown, is obeyed: lines of one take
	// the place of lines of another, and numbers change in half of all crosses. It is blind to merit.
	Splice float64
	// Heed is the chance that each thing is obeyed that the instruction asks for in words that the model knows: to change
	// numbers alone, to try something different or simpler, to fix the line that is named, to change the program that is
	// named.
	Heed float64
	// Insights is whether a request for a summary or for insights is answered by the best score that the prompt shows.
	Insights bool
}

// All returns the abilities that the parts of populations need: the model crosses programs where it is asked to, heeds
// instructions and notes mostly, and sums up attempts. With its defaults it changes numbers, whatever it is asked for,
// and of several programs any; of prompts it changes lines.
func All() Abilities { return Abilities{Splice: 0.9, Heed: 0.7, Prose: 1, Insights: true} }

// Config returns the configuration of an offline model with abilities a.
func (a Abilities) Config() offline.Config {
	c := offline.Config{Prose: a.Prose}
	if a.Splice > 0 || a.Heed > 0 || a.Insights {
		c.Read = a.read
	}
	return c
}

// String prints a as journals of earlier versions have it in their fingerprints, which tell by it whether a run is the
// same: as a struct of which these are a part.
func (a Abilities) String() string {
	return fmt.Sprintf("{Model:%v Broken:0 Latency:0s Structure:0 Splice:%v Heed:%v Insights:%v Prose:%v Few:0 Long:0}",
		llm.PaperSampling(llm.Model{}), a.Splice, a.Heed, a.Insights, a.Prose)
}

var (
	spokenCross   = regexp.MustCompile(`(?i)\b(combin(e|es|ing)|cross(over)?|merg(e|es|ing)|recombin(e|ing)|splic(e|ing))\b`)
	spokenSummary = regexp.MustCompile(`(?i)\b(summar(y|ize|ise)|insights?|lessons?|what (has )?worked)\b`)
	spokenList    = regexp.MustCompile(`(?i)\bbegins? with "- "`)
	shownScore    = regexp.MustCompile(`(?i)\bscores?d?\b[^\d\n-]{0,20}(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`)
)

// read decides how the reply to message is made.
func (a Abilities) read(message string, r *rand.Rand) offline.Plan {
	said, d := fence.Outside(message), mutate.Draw{Rand: r}
	if a.Insights && spokenSummary.MatchString(said) {
		return offline.Plan{Text: summary(said)}
	}
	want := heeded(said, a.Heed, d)
	cross := a.Splice > 0 && spokenCross.MatchString(said)
	return offline.Plan{First: want.first, Change: func(shown []offline.Program, i int) (string, bool) {
		p, syn := shown[i], lex.Likely(shown[i].Language, shown[i].Text)
		if cross && len(shown) > 1 && d.Chance(a.Splice) {
			spliced := mutate.Splice(p.Text, shown[(i+1+d.IntN(len(shown)-1))%len(shown)].Text, d)
			if d.Chance(0.5) {
				spliced = mutate.Numbers(spliced, syn, d, "")
			}
			return spliced, true
		}
		if a.Prose > 0 && p.Language == "" && d.Chance(a.Prose) {
			return mutate.Prose(p.Text, said, d), true
		}
		return want.rewrite(p.Text, syn, d)
	}}
}

// summary says which of the scores that are shown is the best, in a list where one is asked for in lines that begin
// with "- ".
func summary(said string) string {
	all := shownScore.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return "Nothing tells the attempts apart."
	}
	best := math.Inf(-1)
	for _, m := range all {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			best = max(best, v)
		}
	}
	bullet := ""
	if spokenList.MatchString(said) {
		bullet = "- "
	}
	return fmt.Sprintf("%sOf %d attempts the best came to %.6g.", bullet, len(all), best)
}
