package policies

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// table aligns rows under a title and a head.
func table(title string, head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintln(&b, title)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	w.Flush()
	return b.String()
}

// cellTable shows how the policies did in one setting.
func cellTable(c sim.Cell) string {
	title := fmt.Sprintf("%v: the oracle comes to %.3f; pulls until nine runs in ten have come to a score",
		c.Setting, sim.Summarize(c.Oracle).Mean.Value)
	head := []string{"policy", "mean final best", "interquartile mean", "regret", "over time"}
	for _, l := range c.Levels {
		head = append(head, "to "+levelText(l))
	}
	var rows [][]string
	for _, e := range c.Entries {
		s := sim.Summarize(e.Final)
		row := []string{e.Name, interval(s.Mean), interval(s.IQM), mean(e.Regret), mean(e.MeanRegret)}
		for i := range c.Levels {
			row = append(row, pulls(c.Pulls(e.Name, i)))
		}
		rows = append(rows, row)
	}
	return table(title, head, rows)
}

func levelText(l sim.Level) string {
	text := fmt.Sprintf("%.3f", l.Score)
	if l.Multiple > 0 {
		text += fmt.Sprintf(" (%.3gT)", l.Multiple)
	}
	if l.Trivial {
		text += " from the start"
	}
	return text
}

func pulls(n int) string {
	if n == sim.NotReached {
		return "not reached"
	}
	return fmt.Sprint(n)
}

func interval(i sim.Interval) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

func mean(values []float64) string {
	return fmt.Sprintf("%.3f", sim.Summarize(values).Mean.Value)
}

// overallTable shows how the policies did over all settings of a group.
func overallTable(cells []sim.Cell) string {
	s := cells[0].Setting
	title := fmt.Sprintf("all %d families, K=%d N=%d T=%d", len(cells), s.Arms, s.N, s.Rounds)
	head := []string{"policy", "mean final best", "interquartile mean", "regret", "worst family by regret"}
	var rows [][]string
	for p, e := range cells[0].Entries {
		var finals, regrets [][]float64
		var worst string
		most := -1.0
		for _, c := range cells {
			finals, regrets = append(finals, c.Entries[p].Final), append(regrets, c.Entries[p].Regret)
			if r := sim.Summarize(c.Entries[p].Regret).Mean.Value; r > most {
				most, worst = r, fmt.Sprintf("%v (%.3f)", c.Setting.Family, r)
			}
		}
		final := sim.SummarizeAll(finals)
		rows = append(rows,
			[]string{e.Name, interval(final.Mean), interval(final.IQM), interval(sim.SummarizeAll(regrets).Mean), worst})
	}
	return table(title, head, rows)
}

// gainTable shows how far policies end above one of them, and how long their runs took. Its last row is the best of the
// baselines by family.
func gainTable(cells []sim.Cell, than string, baselines []string) string {
	if cells[0].Entry(than) == nil || len(cells[0].Entries) == 1 {
		return ""
	}
	title := fmt.Sprintf("\nfinal best less that of %s, as a share of what there is to gain: of the way from the start "+
		"to the oracle's [95 %% bootstrap-t]", than)
	head := []string{"policy", "mean", "worst family"}
	timed := cells[0].Entries[0].Seconds[0] > 0
	if timed {
		head = append(head, "seconds")
	}
	var rows [][]string
	for p, e := range cells[0].Entries {
		row := []string{e.Name, "0", ""}
		if e.Name != than {
			row = gainRow(cells, e.Name, than)
		}
		if timed {
			var seconds [][]float64
			for _, c := range cells {
				seconds = append(seconds, c.Entries[p].Seconds)
			}
			row = append(row, fmt.Sprintf("%.0f", sim.SummarizeAll(seconds).Mean.Value))
		}
		rows = append(rows, row)
	}
	if len(baselines) > 1 {
		rows = append(rows, gainRow(withHindsight(cells, baselines), hindsight, than))
	}
	return table(title, head, rows) + gainsByFamily(cells, than)
}

// gainsByFamily shows the same by family.
func gainsByFamily(cells []sim.Cell, than string) string {
	head := []string{"family"}
	for _, e := range cells[0].Entries {
		if e.Name != than {
			head = append(head, e.Name)
		}
	}
	var rows [][]string
	for _, c := range cells {
		row := []string{c.Setting.Family.String()}
		for _, name := range head[1:] {
			text := "–" // nothing to gain
			if g := sim.GainOver([]sim.Cell{c}, name, than).Mean; !math.IsNaN(g.Value) {
				text = interval(g)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return table("\nthe same by family", head, rows)
}

func gainRow(cells []sim.Cell, name, than string) []string {
	g := sim.GainOver(cells, name, than)
	if math.IsNaN(g.Mean.Value) {
		return []string{name, "nothing to gain", ""}
	}
	return []string{name, interval(g.Mean), fmt.Sprintf("%s in %v", interval(g.Worst), g.WorstAt.Family)}
}

// hindsight names the best of the baselines by family.
const hindsight = "the best baseline of each family"

// withHindsight returns the cells with one more entry each: in the odd runs that baseline which is best in the even
// ones, and the other way round. Chosen and scored on the same runs it would be the luckiest, too.
func withHindsight(cells []sim.Cell, baselines []string) []sim.Cell {
	all := slices.Clone(cells)
	for i, c := range cells {
		best := sim.Entry{Name: hindsight, Final: make([]float64, len(c.Oracle))}
		for half := range 2 {
			chosen := c.Entry(baselines[0]).Final
			for _, name := range baselines[1:] {
				if final := c.Entry(name).Final; meanOfEach(2, 1-half, final) > meanOfEach(2, 1-half, chosen) {
					chosen = final
				}
			}
			for run := half; run < len(chosen); run += 2 {
				best.Final[run] = chosen[run]
			}
		}
		all[i].Entries = append(slices.Clip(c.Entries), best)
	}
	return all
}

// meanOfEach returns the mean of every n-th value from the first on, and 0 if there is none.
func meanOfEach(n, first int, values []float64) float64 {
	sum, count := 0.0, 0
	for i := first; i < len(values); i += n {
		sum, count = sum+values[i], count+1
	}
	return sum / float64(max(count, 1))
}

// A yardstick is a choice of the scores that policies are timed to.
type yardstick struct {
	scores  string
	ratio   func(c sim.Cell, name string, others ...string) float64
	compare func(cells []sim.Cell, name string, others ...string) sim.Comparison
}

// yardsticks returns what the tables compare by.
func yardsticks() []yardstick {
	return []yardstick{
		{"those above, which dealing out pulls in turn sets", sim.Cell.Ratio, sim.Compare},
		{"what\nthe best of the others has reached in nine runs of ten after each of the multiples of T up to 1",
			sim.Cell.RatioAtBest, sim.CompareAtBest},
	}
}

// comparisons returns the tables that compare how soon policies reach scores, by each yardstick.
func comparisons(cells []sim.Cell, baselines []string) string {
	var b strings.Builder
	for _, y := range yardsticks() {
		b.WriteString(y.speedTable(cells, baselines) + y.familyTable(cells, baselines))
	}
	return b.String()
}

// speedTable compares how soon policies reach scores reliably with each baseline, and with the best of the baselines
// in hindsight.
func (y yardstick) speedTable(cells []sim.Cell, baselines []string) string {
	if len(baselines) == 0 {
		return ""
	}
	title := "\npulls until nine runs in ten have reached a score, as a ratio: below 1 is faster. The scores are " +
		y.scores +
		".\nThe geometric mean over scores and families [95 % bootstrap], and the family where it is worst"
	head := append([]string{"policy"}, baselines...)
	if len(baselines) > 1 {
		head = append(head, "the best of these")
	}
	var rows [][]string
	for _, e := range cells[0].Entries {
		row := []string{e.Name}
		var others []string
		for _, b := range baselines {
			row = append(row, y.text(cells, e.Name, b))
			if b != e.Name {
				others = append(others, b)
			}
		}
		if len(baselines) > 1 {
			row = append(row, y.text(cells, e.Name, others...))
		}
		rows = append(rows, row)
	}
	return table(title, head, rows)
}

func (y yardstick) text(cells []sim.Cell, name string, others ...string) string {
	if len(others) == 1 && others[0] == name {
		return "1"
	}
	c := y.compare(cells, name, others...)
	if c.Settings == 0 {
		return "nothing to reach"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f], %.2f in %v", c.GeoMean.Value, c.GeoMean.Low, c.GeoMean.High, c.Worst,
		c.WorstAt.Family)
}

// familyTable compares, family by family, how soon policies reach scores reliably with the best of the baselines in
// hindsight.
func (y yardstick) familyTable(cells []sim.Cell, baselines []string) string {
	head := []string{"family"}
	for _, e := range cells[0].Entries {
		if !slices.Contains(baselines, e.Name) {
			head = append(head, e.Name)
		}
	}
	if len(baselines) == 0 || len(head) == 1 {
		return ""
	}
	title := "\nthe same by family, against the best of " + strings.Join(baselines, ", ")
	var rows [][]string
	for _, c := range cells {
		row := []string{c.Setting.Family.String()}
		for _, name := range head[1:] {
			text := "–" // nothing to reach
			if r := y.ratio(c, name, baselines...); !math.IsNaN(r) {
				text = fmt.Sprintf("%.2f", r)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return table(title, head, rows)
}
