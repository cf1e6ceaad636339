package policies

import (
	"fmt"
	"path/filepath"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// drawGroup draws the settings of a group, a panel for each family: the best score by pulls, and the regret.
func drawGroup(folder string, cells []sim.Cell) error {
	s := cells[0].Setting
	where := fmt.Sprintf("K=%d, N=%d, T=%d", s.Arms, s.N, s.Rounds)
	file := fmt.Sprintf("K%d_N%d_T%d.svg", s.Arms, s.N, s.Rounds)
	var best, regret []plot.Panel
	for _, c := range cells {
		b, r := plot.Panel{Title: c.Setting.Family.String()}, plot.Panel{Title: c.Setting.Family.String()}
		for _, e := range c.Entries {
			runs, pulls := len(e.Final), counting(len(e.Median))
			b.Lines = append(b.Lines, plot.Line{Name: e.Name, Runs: runs, X: pulls, Y: e.Median, Low: e.Low, High: e.High})
			r.Lines = append(r.Lines, plot.Line{Name: e.Name, Runs: runs, X: pulls, Y: e.RegretAt})
		}
		best, regret = append(best, b), append(regret, r)
	}
	f, err := plot.Curves{
		Title: "Best score by pulls, " + where, X: "pulls", Interval: "The median run, and 10 to 90 % of runs.", Panels: best,
	}.Draw()
	if err != nil {
		return err
	}
	if err := f.Save(filepath.Join(folder, "best_"+file)); err != nil {
		return err
	}
	f, err = plot.Regret{
		Title: "Mean regret by pulls, " + where, X: "pulls", Y: "regret",
		Interval: "The oracle's best score less the policy's, in the mean over runs.", Panels: regret,
	}.Draw()
	if err != nil {
		return err
	}
	return f.Save(filepath.Join(folder, "regret_"+file))
}

// counting returns 0, 1, ..., n-1.
func counting(n int) []float64 {
	at := make([]float64, n)
	for i := range at {
		at[i] = float64(i)
	}
	return at
}
