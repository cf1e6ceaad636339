package history

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/gonum/stat"
)

// Mean and standard deviation are those of the textbook, also of lifts that are small beside their mean.
func TestLifts(t *testing.T) {
	for _, x := range [][]float64{{1, 2, 4}, {-3, 0, 0, 5}, {1e9, 1e9 + 1, 1e9 + 2}} {
		var l Lifts
		for _, v := range x {
			l.Add(v)
		}
		mean, sd := stat.MeanStdDev(x, nil)
		if math.Abs(l.Mean()-mean) > 1e-12*math.Abs(mean)+1e-12 || math.Abs(l.SD()-sd) > 1e-9 ||
			math.Abs(l.SE()-sd/math.Sqrt(float64(len(x)))) > 1e-9 || math.Abs(l.In(l)-mean/sd) > 1e-9*math.Abs(mean/sd) {
			t.Errorf("%v: mean %v, sd %v, want %v and %v", x, l.Mean(), l.SD(), mean, sd)
		}
	}
}

// What is not finite is 0, which JSON can hold.
func TestLiftsAreFinite(t *testing.T) {
	var none, one, huge Lifts
	one.Add(3)
	huge.Add(math.Inf(1))
	huge.Add(-math.MaxFloat64)
	for _, l := range []Lifts{none, one, huge} {
		if l.SD() != 0 || l.In(l) != 0 {
			t.Errorf("%v: sd %v, mean in sd %v, want 0", l, l.SD(), l.In(l))
		}
	}
}

// Names are one printable line of bounded length, whatever a model or a task wrote.
func TestNames(t *testing.T) {
	for _, s := range []string{"cross", "two\nlines", "\x1b[2Jgone", "a\u202eb", strings.Repeat("ä", 5000),
		strings.Repeat("\xff", 5000), ""} {
		for _, name := range []string{Name(s), label(s)} {
			if len(name) > 300 || !utf8.ValidString(name) || strings.ContainsAny(name, "\n\x1b\u202e") {
				t.Errorf("%.20q becomes %.40q of %d bytes", s, name, len(name))
			}
		}
	}
	if Name("cross") != "cross" || label("cross") != "cross" {
		t.Error("a short name is changed")
	}
}
