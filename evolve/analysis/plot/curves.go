package plot

import "fmt"

// Curves shows how the best score grows with what is spent: calls, FLOPs, money or time.
type Curves struct {
	Title string
	X     string // what is spent, with its unit: "model calls"
	Scale Scale  // of X
	// Interval says what Low and High of the lines are, and over what they are taken: "mean; 95 % bootstrap
	// interval over searches". It is needed if a line has them.
	Interval string
	Panels   []Panel
}

// Draw returns the figure, or an error that names the line that cannot be drawn.
func (c Curves) Draw() (*Figure, error) {
	if err := checkPanels(c.Panels, c.Scale, c.Interval); err != nil {
		return nil, fmt.Errorf("plot: curves: %w", err)
	}
	return chart{page: page{title: c.Title, caption: c.Interval}, x: c.X, y: "best score",
		scale: c.Scale, panels: c.Panels}.figure(), nil
}
