package plot

import (
	"fmt"
	"math"
)

// A Line is one curve of a figure, with an interval around it. It is drawn as steps: Y[i] holds from X[i] on.
type Line struct {
	Name string
	Runs int // how many runs it is made of; at least 1
	X, Y []float64
	// Low and High are the ends of the interval at each point; nil if the line has none. What kind of interval
	// they are is said once, by the figure.
	Low, High []float64
}

// A Panel is one of several plots side by side, with one legend. Lines of the same name look the same in all.
type Panel struct {
	Title string // "" if there is one panel
	Lines []Line
}

// check returns an error unless l can be drawn with x on the scale.
func (l Line) check(x Scale) error {
	switch {
	case l.Name == "":
		return fmt.Errorf("a line has no name")
	case l.Runs < 1:
		return fmt.Errorf("line %q is of %d runs, want how many there were", l.Name, l.Runs)
	case len(l.X) == 0 || len(l.X) != len(l.Y):
		return fmt.Errorf("line %q has %d X and %d Y, want as many, and one at least", l.Name, len(l.X), len(l.Y))
	case (l.Low != nil || l.High != nil) && (len(l.Low) != len(l.Y) || len(l.High) != len(l.Y)):
		return fmt.Errorf("line %q has %d Low and %d High for %d Y", l.Name, len(l.Low), len(l.High), len(l.Y))
	}
	for _, list := range [][]float64{l.X, l.Y, l.Low, l.High} {
		for i, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("line %q has %v at point %d, want finite numbers", l.Name, v, i)
			}
		}
	}
	return l.ordered(x)
}

// ordered returns an error unless X does not fall and intervals are not upside down.
func (l Line) ordered(x Scale) error {
	for i := range l.X {
		switch {
		case x != Linear && l.X[i] <= 0:
			return fmt.Errorf("line %q has X = %v at point %d, which a %v axis cannot show", l.Name, l.X[i], i, x)
		case i > 0 && l.X[i] < l.X[i-1]:
			return fmt.Errorf("line %q has X = %v after %v, want values that do not fall", l.Name, l.X[i], l.X[i-1])
		case l.Low != nil && l.Low[i] > l.High[i]:
			return fmt.Errorf("line %q has an interval [%v, %v] at point %d", l.Name, l.Low[i], l.High[i], i)
		}
	}
	return nil
}

// checkPanels returns an error unless all lines can be drawn, and what their intervals are is said.
func checkPanels(panels []Panel, x Scale, interval string) error {
	lines := 0
	for _, p := range panels {
		for _, l := range p.Lines {
			lines++
			if err := l.check(x); err != nil {
				return err
			}
			if l.Low != nil && interval == "" {
				return fmt.Errorf("line %q has an interval, and Interval does not say which", l.Name)
			}
		}
	}
	if lines == 0 {
		return fmt.Errorf("there are no lines to draw")
	}
	return nil
}

// styles returns a style for each name of a line, in order of first appearance, and the names in that order.
func styles(panels []Panel) (byName map[string]style, names []string) {
	byName = map[string]style{}
	for _, p := range panels {
		for _, l := range p.Lines {
			if _, known := byName[l.Name]; !known {
				byName[l.Name] = styleOf(len(names))
				names = append(names, l.Name)
			}
		}
	}
	return byName, names
}

// runs returns how many runs the lines of a name are made of: "n = 8", or "n = 5 to 8" if panels differ.
func runs(panels []Panel, name string) string {
	low, high := math.MaxInt, 0
	for _, p := range panels {
		for _, l := range p.Lines {
			if l.Name == name {
				low, high = min(low, l.Runs), max(high, l.Runs)
			}
		}
	}
	return many(low, high)
}

func many(low, high int) string {
	if low == high {
		return fmt.Sprintf("n = %d", low)
	}
	return fmt.Sprintf("n = %d to %d", low, high)
}
