package standin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
)

var (
	spokenSummary = regexp.MustCompile(`(?i)\b(summar(y|ize|ise)|insights?|lessons?|what (has )?worked)\b`)
	shownScore    = regexp.MustCompile(`(?i)\bscores?d?\b[^\d\n-]{0,20}(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`)
	spokenList    = regexp.MustCompile(`(?i)\bbegins? with "- "`)
	quotedLine    = regexp.MustCompile(`^[ \t]*(?:[-*>]|\d+[.)])[ \t]`)
)

// An attempt is what a prompt shows of one: text with a program or what was done, and the score it had.
type attempt struct {
	text  string
	score float64
}

// attempts returns those that text shows: each fenced block whose score was stated since the block before, and each
// line of a list outside blocks that states a score.
func attempts(text string) []attempt {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var all []attempt
	at := 0
	for block := range fence.Blocks(text) {
		lead := text[at:block.Begin]
		all = append(all, listed(lead)...)
		if m := shownScore.FindAllStringSubmatch(lead, -1); m != nil {
			if v, err := strconv.ParseFloat(m[len(m)-1][1], 64); err == nil {
				all = append(all, attempt{block.Text(), v})
			}
		}
		at = block.End
	}
	return append(all, listed(text[at:])...)
}

// listed returns the attempts in the lines of lists. A mean is no attempt's score, as of a note that a summary left.
func listed(text string) (all []attempt) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, meanScore) {
			continue
		}
		if m := shownScore.FindStringSubmatch(line); m != nil && quotedLine.MatchString(line) {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil {
				all = append(all, attempt{line, v})
			}
		}
	}
	return all
}

// meanScore is how a summary says what it goes by.
const meanScore = "mean score"

// summary says which idiom the attempts that are shown did best with, by the mean of their scores. With few attempts,
// or noisy scores, it is as wrong as such a mean is. It is in a list where one is asked for in lines that begin with "-
// ".
func summary(text string) string {
	all := attempts(text)
	best, mean, most := -1, 0.0, 0
	for k, i := range idioms {
		sum, n := 0.0, 0
		for _, a := range all {
			if i.code.MatchString(a.text) || i.spoken.MatchString(a.text) {
				sum, n = sum+a.score, n+1
			}
		}
		// What all attempts have in common tells them not apart.
		if n > 0 && n < len(all) && (best < 0 || sum/float64(n) > mean) {
			best, mean, most = k, sum/float64(n), n
		}
	}
	if best < 0 {
		return "Nothing tells the attempts apart."
	}
	bullet := ""
	if spokenList.MatchString(text) {
		bullet = "- "
	}
	return fmt.Sprintf("%sPrefer %s: of %d attempts, the %d with it have the best %s, %.6g.", bullet, idioms[best].name,
		len(all), most, meanScore, mean)
}
