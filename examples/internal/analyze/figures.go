package analyze

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// A figure is a drawing, what it shows, and the name of its files, without an ending.
type figure struct {
	what string
	name string
	*plot.Figure
}

// file is the name of the figure's file.
func (f figure) file() string { return f.name + ".svg" }

func (f figure) save(folder string) error { return f.Save(filepath.Join(folder, f.file())) }

// A drawing is what a figure is drawn from.
type drawing interface{ Draw() (*plot.Figure, error) }

// draw draws all figures that a problem has enough data for.
func draw(o options, p *problem) ([]figure, error) {
	drawings := map[string]drawing{}
	for _, s := range p.Studies {
		if d, ok := s.surface(p); ok {
			drawings["surface_"+s.Method] = d
		}
		if d, ok := s.pulls(p); ok {
			drawings["pulls_"+s.Method] = d
		}
		if d, ok := s.envelope(p, o); ok {
			drawings["envelope_"+s.Method] = d
		}
	}
	curves, err := p.curves(o)
	if err != nil {
		return nil, err
	}
	for name, c := range curves {
		drawings[name] = c
	}
	regret, ok, err := p.regret(o)
	if err != nil {
		return nil, err
	}
	if ok {
		drawings["regret"] = regret
	}
	profiles, ok, err := p.profiles(o)
	if err != nil {
		return nil, err
	}
	if ok {
		drawings["profiles"] = profiles
	}
	var figures []figure
	for _, name := range slices.Sorted(maps.Keys(drawings)) {
		f, err := drawings[name].Draw()
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", name, p.Task, err)
		}
		figures = append(figures, figure{name, fileName(p.Task + "_" + p.Model + "_" + name), f})
	}
	return figures, nil
}

// longestName bounds a figure's name, which leaves room for an ending in a file system with names of 255 bytes.
const longestName = 200

// fileName returns a name of letters, digits and few other characters, cut to longestName.
func fileName(name string) string {
	plain := simple(name)
	return plain[:min(len(plain), longestName)]
}

// distinct numbers figures with equal names after [fileName], so that none overwrites another.
func distinct(figures []figure) {
	seen := map[string]int{}
	for i, f := range figures {
		if seen[f.name]++; seen[f.name] > 1 {
			figures[i].name = fmt.Sprintf("%s-%d", f.name, seen[f.name])
		}
	}
}

// simple returns a name with a hyphen for each character that is not a letter, a digit or one of a few others.
func simple(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-=", r) {
			return r
		}
		return '-'
	}, name)
}

// title begins the title of every figure of a problem.
func (p *problem) title() string { return p.Task + ", " + p.Model + ": " }

const bootstrapped = "95 % bootstrap interval over runs"

// surface returns the figure of a greedy study. Only best splits known to be inside are marked.
func (s *study) surface(p *problem) (plot.Surface, bool) {
	if !s.greedy() || s.sized() {
		return plot.Surface{}, false
	}
	d := plot.Surface{Title: p.title() + s.Method + " by depth and breadth",
		Interval: "95 % bootstrap interval over searches", Cells: s.Cells}
	if s.Intervals == nil {
		return d, true
	}
	d.Fit, d.Ceiling = s.Surface, s.grid.Ceiling
	for _, split := range s.Intervals.Splits {
		d.Optima = append(d.Optima, plot.Optimum{Budget: split.Calls, N: split.N.Value, Low: split.N.Low, High: split.N.High,
			Unsure: spans(split) || split.Interior < inside})
	}
	return d, true
}
