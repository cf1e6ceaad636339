package plot_test

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// drawer is what every figure's data is.
type drawer interface{ Draw() (*plot.Figure, error) }

// samples are figures of every kind, from formulas, by the name of their golden files.
func samples() map[string]drawer {
	return map[string]drawer{
		"surface":      sampleSurface(),
		"surface_open": sampleOpen(),
		"envelope":     sampleEnvelope(),
		"curves": plot.Curves{Title: "Circle packing: best score by calls", X: "model calls", Scale: plot.Log2,
			Interval: "mean; 95 % bootstrap interval over searches", Panels: []plot.Panel{sampleCurves("", 3, 128, 1)}},
		"curves_panels": plot.Curves{Title: "Best score by FLOPs, with a title so long that it has to go on in a second line of the figure", X: "FLOPs", Scale: plot.Log10, Interval: "median, and 10 to 90 % of runs", Panels: []plot.Panel{sampleCurves("cp", 9, 16, 1e15), sampleCurves("mmd", 9, 16, 2e15), sampleCurves("ht", 9, 16, 3e15), sampleCurves("pack", 9, 16, 4e15)}},
		"profiles":      sampleProfiles(),
		"pulls":         samplePulls(),
		"regret":        sampleRegret(),
	}
}

func truth() *analysis.Surface { return &analysis.Surface{B0: -0.2, A: -0.25, B: -0.22, C: -0.046} }

func sampleSurface() plot.Surface {
	s := plot.Surface{Title: "Circle packing: mean best score by depth and breadth", Fit: truth(), Ceiling: 1,
		Interval: "95 % bootstrap interval over searches"}
	for c := 6; c <= 12; c++ {
		for t := 0; t <= c; t++ {
			depth, breadth := 1<<t, 1<<(c-t)
			noise := 0.008 * math.Sin(float64(7*t+3*c))
			s.Cells = append(s.Cells, analysis.Cell{T: depth, N: breadth,
				Mean: 1 - math.Exp(truth().At(float64(depth), float64(breadth))) + noise, Searches: 4 + c%3})
		}
		budget := math.Exp2(float64(c))
		best := math.Exp(math.Log(budget)/2 + (truth().A-truth().B)/(2*truth().C))
		s.Optima = append(s.Optima, plot.Optimum{Budget: budget, N: best, Low: best / 2, High: best * 1.8})
	}
	return s
}

// sampleOpen has one budget, of which nothing can be told.
func sampleOpen() plot.Surface {
	s := plot.Surface{Title: "One budget, few searches", Interval: "95 % bootstrap interval over searches"}
	for t := 0; t <= 4; t++ {
		s.Cells = append(s.Cells, analysis.Cell{T: 1 << t, N: 1 << (4 - t), Mean: 0.7 + 0.01*float64(t*(4-t)), Searches: 3})
	}
	s.Optima = []plot.Optimum{{Budget: 16, N: 4, Low: 1, High: 16}}
	return s
}

func sampleEnvelope() plot.Envelope {
	e := plot.Envelope{Title: "Circle packing: the best split by budget",
		Interval: "Bars: 95 % bootstrap interval over searches"}
	for i, name := range []string{"greedy", "expected improvement, 10 arms"} {
		l := plot.EnvelopeLine{Name: name, Runs: 12 - 2*i}
		for c := 6; c <= 12; c++ {
			v := 1 - math.Exp(-0.25*float64(c)-0.2*float64(i))
			l.Points = append(l.Points, plot.EnvelopePoint{Budget: 1 << c, N: 1 << (c / 2), Best: v, Low: v - 0.02,
				High: v + 0.018, Fair: v - 0.012})
		}
		e.Lines = append(e.Lines, l)
	}
	return e
}

func sampleCurves(title string, lines, points int, unit float64) plot.Panel {
	p := plot.Panel{Title: title}
	for i := range lines {
		l := plot.Line{Name: fmt.Sprintf("policy %d", i+1), Runs: 20 + i}
		for x := 1; x <= points; x++ {
			v := 1 - 0.6*math.Pow(float64(x), -0.15-0.05*float64(i))
			l.X, l.Y = append(l.X, float64(x)*unit), append(l.Y, v)
			if i < 4 {
				l.Low, l.High = append(l.Low, v-0.04), append(l.High, v+0.03)
			}
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

func sampleProfiles() plot.Profiles {
	p := plot.Panel{}
	for i, name := range []string{"greedy N=8", "greedy N=64", "ucb"} {
		l := plot.Line{Name: name, Runs: 10}
		for tau := 0; tau <= 60; tau++ {
			x := 0.7 + 0.005*float64(tau)
			y := 1 / (1 + math.Exp(60*(x-0.82-0.03*float64(i))))
			l.X, l.Y = append(l.X, x), append(l.Y, y)
			l.Low, l.High = append(l.Low, max(0, y-0.1)), append(l.High, min(1, y+0.1))
		}
		p.Lines = append(p.Lines, l)
	}
	return plot.Profiles{Title: "Runs that reach a score", Interval: "95 % bootstrap interval over runs",
		Panels: []plot.Panel{p}}
}

func samplePulls() plot.Pulls {
	u := plot.Pulls{Title: "UCB over eight searches, ordered by what they reached"}
	for arm := range 8 {
		u.Arms = append(u.Arms, fmt.Sprintf("arm of rank %d", arm+1))
	}
	for run := range 5 {
		var pulls []int
		for round := range 200 {
			pulls = append(pulls, (round*(run+3))%8*(200-round)/200)
		}
		u.Runs = append(u.Runs, pulls)
	}
	return u
}

func sampleRegret() plot.Regret {
	p := plot.Panel{}
	for i, name := range []string{"random", "ucb", "expected improvement"} {
		l := plot.Line{Name: name, Runs: 50}
		for t := 1; t <= 100; t++ {
			v := 0.3 * math.Exp(-float64(t)*0.012*float64(i+1))
			l.X, l.Y = append(l.X, float64(t)), append(l.Y, v)
			l.Low, l.High = append(l.Low, v*0.85), append(l.High, v*1.2)
		}
		p.Lines = append(p.Lines, l)
	}
	return plot.Regret{Title: "Simple regret against the best arm in hindsight",
		Interval: "mean; 95 % bootstrap interval over runs", Panels: []plot.Panel{p}}
}
