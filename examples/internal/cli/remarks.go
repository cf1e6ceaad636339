package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// remarks returns a line for each fact about a run that its figures do not explain.
func (o *Options) remarks(r *evolve.Result) (lines []string) {
	if n := len(r.Earlier.Lost) + len(r.Earlier.Abandoned); n > 0 {
		lines = append(lines, fmt.Sprintf("%s lost or abandoned in earlier incarnations of the run, and made again: "+
			"all_lives in the result counts them", Count(n, "call was", "calls were")))
	}
	if n := len(r.Earlier.Unclaimed); n > 0 {
		lines = append(lines, fmt.Sprintf("%s answered in an earlier incarnation of the run, and not asked for again: "+
			"all_lives in the result counts them", Count(n, "call was", "calls were")))
	}
	if r.Limit == "Stalls" {
		lines = append(lines, fmt.Sprintf("%s timed out or stalled, more than the %d that --max-stalls allows: look at the "+
			"endpoint and at what counts as a stall"+
			" (--timeout; of streamed answers also --first-token, --silence, --min-rate); with a larger --max-stalls, "+
			"--resume goes on where it stopped",
			Count(stalls(r), "attempt", "attempts"), o.maxStalls()))
	}
	if flag := raises(r.Limit); flag != "" {
		lines = append(lines, fmt.Sprintf("--%s ended the run: with a larger one, --resume goes on where it stopped", flag))
	}
	endpoints := result.Count(r.EachCall).Endpoints
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		if n := endpoints[name].OverCap; n > 0 {
			lines = append(lines, fmt.Sprintf("%s reported more tokens than the request allows in %d of %s:"+
				" limits on tokens, FLOPs and money rest on what it allows, and this endpoint may have made the run cost more "+
				"than they say",
				name, n, Count(endpoints[name].Attempts, "attempt", "attempts")))
		}
	}
	var c complaint
	for _, arm := range r.Arms {
		for _, g := range arm.Generations {
			c.add(g)
		}
	}
	lines = append(lines, c.replies()...)
	return lines
}

// Count returns n with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// stalls counts the attempts of all incarnations that timed out or stalled.
func stalls(r *evolve.Result) (n int) {
	count := func(a llm.Attempt) bool {
		if a.Status.Class() == llm.Stall {
			n++
		}
		return true
	}
	r.Attempts(count)
	for _, attempts := range r.Earlier.Abandoned {
		for _, a := range attempts {
			count(a)
		}
	}
	return n
}

// maxStalls returns the limit in force on attempts that time out or stall, if there is one.
func (o *Options) maxStalls() int {
	return cmp.Or(o.MaxStalls, max(o.T*o.N/10, evolve.DefaultStalls))
}

// A complaint counts children without a score, by reason.
type complaint struct {
	of, bad int
	reasons map[string]int
	most    string         // the most frequent reason, or the first among equals
	mended  map[string]int // children by what their replies left out
}

func (c *complaint) add(g evolve.Generation) {
	c.of += len(g.Children)
	for _, child := range g.Children {
		if child.Mended != "" {
			if c.mended == nil {
				c.mended = make(map[string]int)
			}
			c.mended[child.Mended]++
		}
		if child.Result.Valid {
			continue
		}
		if c.reasons == nil {
			c.reasons = make(map[string]int)
		}
		c.bad++
		why := cmp.Or(child.Err, child.Result.Reason)
		if c.reasons[why]++; c.reasons[why] > c.reasons[c.most] {
			c.most = why
		}
	}
}

// shown bounds the length of a reason, since an interpreter's may be long.
const shown = 300

// String returns the complaint in one line.
func (c *complaint) String() string {
	why := []rune(printable.Line(inFlags(c.most)))
	if len(why) > shown {
		why = append(why[:shown], []rune(" ...")...)
	}
	return fmt.Sprintf("%d of %s without a score, %d for this reason: %s", c.bad, Count(c.of, "child is", "children are"),
		c.reasons[c.most], string(why))
}

// replies returns a line for each omission of replies that was repaired, and for each reason why replies with missing
// or wrong EVOLVE-BLOCK markers were refused.
func (c *complaint) replies() (lines []string) {
	for _, what := range slices.Sorted(maps.Keys(c.mended)) {
		lines = append(lines,
			fmt.Sprintf("%d of %s left out %s, which were put back", c.mended[what], Count(c.of, "reply", "replies"), what))
	}
	for _, why := range slices.Sorted(maps.Keys(c.reasons)) {
		if strings.HasPrefix(why, "task: ") && strings.Contains(why, "EVOLVE-BLOCK") {
			lines = append(lines,
				fmt.Sprintf("%d of %s refused: %s", c.reasons[why], Count(c.of, "reply was", "replies were"), printable.Line(why)))
		}
	}
	return lines
}
