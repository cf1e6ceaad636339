package main

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		why    string
		lo, hi float64
		want   []float64
	}{
		{"a unit", 0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{"rounds", 0, 512, []float64{0, 100, 200, 300, 400, 500}},
		{"inside, not at the ends", 0.34, 0.71, []float64{0.4, 0.5, 0.6, 0.7}},
		{"tiny", 0, 0.003, []float64{0, 0.001, 0.002, 0.003}},
	} {
		if got := ticks(c.lo, c.hi); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

// Curves stay within their panel and end where they end, however long they are.
func TestCurvesFit(t *testing.T) {
	for _, n := range []int{2, 119, 120, 121, 122, 1000, 4097} {
		y := make([]float64, n)
		for i := range y {
			y[i] = math.Sin(float64(i))
		}
		y[n-1] = 3 // the largest, so at the top right
		p := panel{title: "a<b", curves: []curve{{name: "x", y: y, low: y, high: y}}}
		for _, back := range []bool{false, true} {
			at := coordinates(t, p.frame().points(y, back))
			if len(at) < 4 || len(at) > 2*(mostPoints+2) {
				t.Errorf("%d points: %d coordinates", n, len(at))
			}
			x, top := at[len(at)-2], at[len(at)-1]
			if back {
				x, top = at[0], at[1]
			}
			if math.Abs(x-(panelW-right)) > 0.1 || math.Abs(top-22) > 0.1 {
				t.Errorf("%d points: the last at (%v, %v)", n, x, top)
			}
			for i := 0; i < len(at); i += 2 {
				if at[i] < left || at[i] > panelW-right || at[i+1] < 21.9 || at[i+1] > panelH-bottom+0.1 {
					t.Fatalf("%d points: (%v, %v) is outside", n, at[i], at[i+1])
				}
			}
		}
	}
}

func coordinates(t *testing.T, points string) []float64 {
	var at []float64
	for _, s := range strings.Fields(points) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, v)
	}
	return at
}

// A curve that does not move, names that need escaping and more curves than colors make a sound picture.
func TestOddPictures(t *testing.T) {
	var many []curve
	for range 20 {
		many = append(many, curve{name: `a<b&"c"`, y: []float64{0.5, 0.5}})
	}
	var b strings.Builder
	drawGrid(&b, "T < 5", []panel{{title: "flat", curves: many}})
	svg := b.String()
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, `a<b`) || !strings.Contains(svg, "T &lt; 5") {
		t.Errorf("not sound:\n%s", svg)
	}
	if styles := regexp.MustCompile(`stroke="#[^/]*"`).FindAllString(svg, -1); len(slices.Compact(slices.Sorted(slices.Values(styles)))) < 20 {
		t.Error("curves look alike")
	}
}
