package plot

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Pulls shows which arms a policy pulled as its rounds went on: a row an arm, the darker the larger its share of
// the pulls was in that part of the rounds, over all runs. Arms of several runs are best ordered by how good they
// turned out to be, as the third arm of one run has nothing in common with the third of another.
type Pulls struct {
	Title string
	Arms  []string // what each row is, from the top
	Runs  [][]int  // by run and round, the index in Arms of the arm that was pulled
}

// mostParts is how many parts rounds are drawn in at most.
const mostParts = 60

// Draw returns the figure, or an error that names the pull that cannot be drawn.
func (u Pulls) Draw() (*Figure, error) {
	if err := u.check(); err != nil {
		return nil, fmt.Errorf("plot: pulls: %w", err)
	}
	rounds := u.rounds()
	p := newPlot("round", "")
	span(&p.X, Linear, 0, float64(rounds), 0)
	p.Y.Min, p.Y.Max = 0, float64(len(u.Arms))
	p.Y.Tick.Marker = gonum.ConstantTicks(u.rowTicks())
	p.Y.Tick.Length = 0
	share := u.shares(min(mostParts, rounds))
	p.Add(painter(func(c draw.Canvas, p *gonum.Plot) { u.paint(c, p, share) }))
	caption := fmt.Sprintf("Share of pulls of each arm in %d parts of the rounds, over n = %d runs; at the right, of "+
		"all pulls. Even shares would be %s.",
		len(share[0]), len(u.Runs), percent(1/float64(len(u.Arms))))
	pg := page{title: u.Title, caption: caption, keys: shareKeys(), w: soleW + 2*margin, h: 46 + 17*vg.Length(len(u.Arms))}
	return pg.figure(func(c draw.Canvas) { p.Draw(draw.Crop(c, 0, -30, 0, 0)) }), nil
}

func (u Pulls) check() error {
	if len(u.Arms) == 0 || len(u.Runs) == 0 || u.rounds() == 0 {
		return fmt.Errorf("%d arms, %d runs and %d rounds, want one of each at least", len(u.Arms), len(u.Runs), u.rounds())
	}
	for run, pulls := range u.Runs {
		for round, arm := range pulls {
			if arm < 0 || arm >= len(u.Arms) {
				return fmt.Errorf("run %d pulled arm %d in round %d, and there are %d", run, arm, round, len(u.Arms))
			}
		}
	}
	return nil
}

// rounds is how many rounds the longest run has.
func (u Pulls) rounds() int {
	most := 0
	for _, pulls := range u.Runs {
		most = max(most, len(pulls))
	}
	return most
}

// shares returns by arm and part which share of the part's pulls the arm had, over the runs that reach it.
func (u Pulls) shares(parts int) [][]float64 {
	share, all := make([][]float64, len(u.Arms)), make([]float64, parts)
	for arm := range share {
		share[arm] = make([]float64, parts)
	}
	rounds := u.rounds()
	for _, pulls := range u.Runs {
		for round, arm := range pulls {
			share[arm][round*parts/rounds]++
			all[round*parts/rounds]++
		}
	}
	for arm := range share {
		for part := range all {
			share[arm][part] /= all[part]
		}
	}
	return share
}

// total returns which share of all pulls an arm had.
func (u Pulls) total(arm int) float64 {
	mine, all := 0, 0
	for _, pulls := range u.Runs {
		for _, a := range pulls {
			all++
			if a == arm {
				mine++
			}
		}
	}
	return float64(mine) / float64(all)
}

func (u Pulls) rowTicks() []gonum.Tick {
	var ticks []gonum.Tick
	for arm, name := range u.Arms {
		ticks = append(ticks, gonum.Tick{Value: u.row(arm), Label: name})
	}
	return ticks
}

// row is the middle of an arm's row on the y axis. The first is on top.
func (u Pulls) row(arm int) float64 { return float64(len(u.Arms)-arm) - 0.5 }

func (u Pulls) paint(c draw.Canvas, p *gonum.Plot, share [][]float64) {
	x, y := p.Transforms(&c)
	rounds, parts := u.rounds(), len(share[0])
	text := words(tickSize)
	text.XAlign, text.YAlign = draw.XLeft, draw.YCenter
	for arm := range share {
		low, high := y(u.row(arm)-0.44), y(u.row(arm)+0.44)
		for part, v := range share[arm] {
			left, right := x(edge(part, parts, rounds)), x(edge(part+1, parts, rounds))
			if part+1 < parts {
				right += 0.4 // under the next, so that no seams are seen
			}
			c.FillPolygon(shareColor(v), box(left, low, right, high))
		}
		c.FillText(text, vg.Point{X: c.Max.X + 4, Y: y(u.row(arm)) + 1}, percent(u.total(arm)))
	}
}

// edge is the first round of a part.
func edge(part, parts, rounds int) float64 {
	return math.Ceil(float64(part) * float64(rounds) / float64(parts))
}

// shareColor is nearly white for a share of nothing, and from there on a ramp.
func shareColor(v float64) color.NRGBA {
	if v == 0 {
		return faintest
	}
	return ramp(v)
}

// percent returns a share with at most one decimal.
func percent(v float64) string {
	return strconv.FormatFloat(math.Round(1000*v)/10, 'f', -1, 64) + " %"
}

// shareKeys say which color is which share.
func shareKeys() []key {
	var keys []key
	for _, v := range []float64{0, 0.05, 0.25, 0.5, 0.75, 1} {
		keys = append(keys, key{percent(v), func(c draw.Canvas) {
			c.FillPolygon(shareColor(v), box(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
		}})
	}
	return keys
}
