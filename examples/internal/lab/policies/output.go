package policies

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// output is the files asked for.
type output struct {
	file  *os.File // nil without --csv
	csv   *csv.Writer
	plots string // "" without --plots
}

// newOutput opens the files before anything is played, so that a wrong path costs nothing.
func newOutput(o options) (*output, error) {
	out := &output{plots: o.plots}
	if o.plots != "" {
		if err := os.MkdirAll(o.plots, 0o755); err != nil {
			return nil, cli.Usagef("--plots: %w", err)
		}
	}
	if o.csv == "" {
		return out, nil
	}
	var err error
	if out.file, err = os.Create(o.csv); err != nil {
		return nil, cli.Usagef("--csv: %w", err)
	}
	out.csv = csv.NewWriter(out.file)
	return out, out.csv.Write([]string{"family", "K", "N", "T", "seed", "policy", "final_best", "oracle", "regret",
		"mean_regret", "level", "level_score", "pulls"})
}

// cell writes a row for each run and level of a setting. pulls is empty if the level was not reached.
func (o *output) cell(c sim.Cell, seed uint64) error {
	if o.csv == nil {
		return nil
	}
	s := c.Setting
	for _, e := range c.Entries {
		for run := range e.Final {
			row := []string{s.Family.String(), fmt.Sprint(s.Arms), fmt.Sprint(s.N), fmt.Sprint(s.Rounds),
				fmt.Sprint(seed + uint64(run)), e.Name,
				text(e.Final[run]), text(c.Oracle[run]), text(e.Regret[run]), text(e.MeanRegret[run])}
			for i, l := range c.Levels {
				o.csv.Write(append(row[:10:10], text(l.Multiple), text(l.Score), pullsCSV(e.First[i][run])))
			}
			if len(c.Levels) == 0 {
				o.csv.Write(append(row, "", "", ""))
			}
		}
	}
	o.csv.Flush()
	return o.csv.Error()
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func pullsCSV(n int) string {
	if n == sim.NotReached {
		return ""
	}
	return fmt.Sprint(n)
}

// group draws the settings of a group, if plots are asked for.
func (o *output) group(cells []sim.Cell) error {
	if o.plots == "" {
		return nil
	}
	return drawGroup(o.plots, cells)
}

// close closes the files. Calls after the first do nothing.
func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	file := o.file
	o.file = nil
	return file.Close()
}
