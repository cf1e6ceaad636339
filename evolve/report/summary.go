package report

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// Bounds of a [Summary].
const (
	mostReasons = 4   // that are shown
	mostReason  = 200 // runes of one
)

// Summary returns in about ten lines why a run stopped, what the best program scores, what was spent, and what became
// of the children: how many are valid, and of the others the most frequent reasons, counted. What earlier incarnations
// of the run paid for is in what was spent. The text ends with a newline, and what models and programs wrote in it
// cannot steer a terminal.
//
// models are those that may have been asked, as in [evolve.Budget]. An attempt that names none of them is charged as
// the first. FLOPs are those of the worst case (package flops). Tokens and money are those of usage. Without it they
// are of the prompt, estimated, and of what was streamed, also for calls that were lost in a kill. A line leaves out
// what cannot be known: FLOPs without active parameters, money if one of the models has no price.
func Summary(r *evolve.Result, models ...llm.Model) string {
	var b strings.Builder
	limits := map[string]string{}
	for _, l := range evolve.Limits() {
		limits[l.Name] = l.Ended
	}
	why := history.Ending{Stop: string(r.Stop), Limit: r.Limit}.Words(limits)
	fmt.Fprintf(&b, "stopped   after %.1f s: %s\n", r.Elapsed.Seconds(), why)
	fmt.Fprintf(&b, "best      %s\n", best(r))
	if s := fresh(r); s != "" {
		fmt.Fprintf(&b, "fresh     %s\n", s)
	}
	first := slices.Concat(models, []llm.Model{{}})[0].WithDefaults()
	calls := paid(r, first.MaxTokens)
	t, attempts := history.Prices(models).Tally(calls), 0
	for _, n := range t.Attempts {
		attempts += n
	}
	fmt.Fprintf(&b, "calls     %d answered, %d failed, %d timed out, %d abandoned or lost, in %s\n", t.Calls[llm.Real],
		t.Calls[llm.Errored], t.Calls[llm.Stall], t.Calls[llm.Abandoned], counted(attempts, "attempt"))
	fmt.Fprintf(&b, "spent     %s\n", spent(t.Spent, result.Each(calls), models))
	fmt.Fprintf(&b, "scored    %s", counted(r.Evaluations, "evaluation"))
	if r.TuneEvaluations > 0 {
		fmt.Fprintf(&b, ", and %d to tune", r.TuneEvaluations)
	}
	b.WriteString("\n")
	b.WriteString(children(r))
	if len(r.Arms) > 0 {
		file := newBandit(r, BanditHeader{ArmSeeds: make([]uint32, len(r.Arms))})
		if run, err := file.History(); err == nil {
			for _, p := range run.Totals().By(history.ByProposer) {
				fmt.Fprintf(&b, "proposer  %s: %d children, %d better than the best before\n", p.Name, p.Children, p.Improved)
			}
		}
	}
	return b.String()
}

// counted returns n with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// best says what the best program scores, and the first one.
func best(r *evolve.Result) string {
	var start evolve.ArmResult
	if len(r.Arms) > 0 {
		start = r.Arms[0]
	}
	first := fmt.Sprintf("%.6f", start.Start.Result.Score)
	if !start.Start.Result.Valid {
		first = "an invalid program: " + shortened(start.Start.Result.Reason)
	}
	switch {
	case !r.Best.Result.Valid:
		return "no valid program; the search began with " + first
	case r.Best.Program == start.Start.Program:
		return fmt.Sprintf("%.6f, of the initial program: no child is better", r.Best.Result.Score)
	}
	return fmt.Sprintf("%.6f, from %s", r.Best.Result.Score, first)
}

// fresh says what the best program of a noisy search scored on fresh samples, "" for a search that is not noisy.
func fresh(r *evolve.Result) string {
	switch {
	case r.Fresh != nil && r.Fresh.Samples != nil:
		text := fmt.Sprintf("%.6f, sd %.6f, on %d fresh samples", r.Fresh.Score, r.Fresh.Samples.SD, r.Fresh.N())
		if low, high, chance, ok := r.Fresh.Samples.MedianRange(); ok {
			text += fmt.Sprintf("; the median is from %.6f to %.6f with a chance of %.2f", low, high, chance)
		}
		return text
	case r.Fresh != nil && !r.Fresh.Valid:
		return "invalid on fresh samples: " + shortened(r.Fresh.Reason)
	case r.Unconfirmed != "":
		return "not scored on fresh samples: " + shortened(r.Unconfirmed)
	}
	return ""
}

// spent says what attempts cost.
func spent(c history.Cost, all iter.Seq[llm.Attempt], models []llm.Model) string {
	text := fmt.Sprintf("%d prompt tokens (%d cached), %d completion tokens",
		c.Tokens.Prompt, c.Tokens.Cached, c.Tokens.Completion)
	if c.FLOPs > 0 {
		text += fmt.Sprintf(", %.4g FLOPs", c.FLOPs)
	}
	reported, without, estimated := 0, 0, 0
	for a := range all {
		if a.Reported {
			reported++
		}
		if a.EstimatedPrompt > 0 {
			without, estimated = without+1, estimated+a.EstimatedPrompt
		}
	}
	if reported > 0 {
		text += fmt.Sprintf(" (%d sessions by their agents' own word)", reported)
	}
	if priced(models) {
		text += fmt.Sprintf(", money %.4g", c.Money)
	}
	if without > 0 {
		text += fmt.Sprintf("; %d of the prompt tokens are estimated, of %s without usage", estimated,
			counted(without, "attempt"))
	}
	return text
}

// priced reports whether there are models, and all have prices.
func priced(models []llm.Model) bool {
	return len(models) > 0 && !slices.ContainsFunc(models, func(m llm.Model) bool { return m.Price == nil })
}

// children counts the children of a run by what became of them, and those without a score by the reason too, of which
// it has the most frequent.
func children(r *evolve.Result) string {
	of, states, reasons := 0, map[string]int{}, map[string]int{}
	for _, arm := range r.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				state := stateOf(c)
				of++
				if states[state]++; state != "valid" {
					why := cmp.Or(c.Err, c.Result.Reason, "no reason is known")
					if _, rest, found := strings.Cut(why, ": no program in the reply: "); found && state == noProgram {
						why = rest // the state says the beginning
					}
					reasons[state+": "+shortened(why)]++
				}
			}
		}
	}
	var parts []string
	for _, state := range []string{"valid", "invalid", "refused", noProgram, "failed", "timed out", "abandoned"} {
		if k := states[state]; k > 0 {
			parts = append(parts, fmt.Sprint(k, " ", state))
		}
	}
	text := fmt.Sprintf("children  %d", of)
	if of > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	rest := 0
	for i, why := range slices.SortedFunc(maps.Keys(reasons), func(x, y string) int {
		return cmp.Or(cmp.Compare(reasons[y], reasons[x]), cmp.Compare(x, y))
	}) {
		if i >= mostReasons {
			rest += reasons[why]
			continue
		}
		text += fmt.Sprintf("\n%9d %s", reasons[why], why)
	}
	if rest > 0 {
		text += fmt.Sprintf("\n%9d for other reasons", rest)
	}
	return text + "\n"
}

// noProgram is the state of a child whose call was answered without a program.
const noProgram = "without a program"

// stateOf returns what became of a child.
func stateOf(c evolve.Child) string {
	switch class := llm.ClassOf(c.Attempts); {
	case c.HasProgram() && !c.Scored():
		return "refused"
	case c.Scored() && c.Result.Valid:
		return "valid"
	case c.Scored():
		return "invalid"
	case class == llm.Errored:
		return "failed"
	case class == llm.Stall:
		return "timed out"
	case class == llm.Abandoned:
		return "abandoned"
	}
	return noProgram
}

// shortened returns a reason in one line, and cut if it is long.
func shortened(why string) string {
	line := []rune(printable.Line(why))
	if len(line) > mostReason {
		line = append(line[:mostReason], []rune(" ...")...)
	}
	return string(line)
}
