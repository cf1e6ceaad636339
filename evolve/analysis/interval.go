package analysis

import "fmt"

// An Interval is an estimate with the ends of its confidence interval. Its maker documents the level and the method.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// String returns the value and the ends to four digits: "0.636 [0.4, 0.71]".
func (i Interval) String() string { return fmt.Sprintf("%.4g [%.4g, %.4g]", i.Value, i.Low, i.High) }

// Contains reports whether v is in the interval, including the ends.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// Width returns High − Low.
func (i Interval) Width() float64 { return i.High - i.Low }
