package plot

import "fmt"

// Profiles shows performance profiles (Agarwal et al., "Deep reinforcement learning at the edge of the statistical
// precipice", 2021): the share of runs, Y in [0, 1], whose score is above τ, by τ on the x axis. Of two lines that
// do not cross, the upper one is of the better method.
type Profiles struct {
	Title    string
	Score    string // what τ is a value of; "" is "score"
	Interval string // as in Curves
	Panels   []Panel
}

// Draw returns the figure, or an error that names the line that cannot be drawn.
func (p Profiles) Draw() (*Figure, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("plot: profiles: %w", err)
	}
	x := p.Score
	if x == "" {
		x = "score"
	}
	none, all := 0.0, 1.0
	return chart{page: page{title: p.Title, caption: p.Interval}, x: x + " τ", y: "share of runs above τ",
		panels: p.Panels, from: &none, to: &all}.figure(), nil
}

func (p Profiles) check() error {
	if err := checkPanels(p.Panels, Linear, p.Interval); err != nil {
		return err
	}
	for _, panel := range p.Panels {
		for _, l := range panel.Lines {
			for _, list := range [][]float64{l.Y, l.Low, l.High} {
				for i, v := range list {
					if v < 0 || v > 1 {
						return fmt.Errorf("line %q has a share of %v at point %d", l.Name, v, i)
					}
				}
			}
		}
	}
	return nil
}
