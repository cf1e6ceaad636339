package plot

import "fmt"

// Regret shows what a policy lost by its choices up to each round or call: the score of the best arm in hindsight
// less its own.
type Regret struct {
	Title    string
	X        string // "" is "round"
	Y        string // "" is "regret"
	Interval string // as in Curves
	Panels   []Panel
}

// Draw returns the figure, or an error that names the line that cannot be drawn. The y axis begins at 0.
func (r Regret) Draw() (*Figure, error) {
	if err := checkPanels(r.Panels, Linear, r.Interval); err != nil {
		return nil, fmt.Errorf("plot: regret: %w", err)
	}
	x, y := r.X, r.Y
	if x == "" {
		x = "round"
	}
	if y == "" {
		y = "regret"
	}
	none := 0.0
	return chart{page: page{title: r.Title, caption: r.Interval}, x: x, y: y, panels: r.Panels, from: &none}.figure(), nil
}
