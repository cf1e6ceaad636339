package argmax

import (
	"math"
	"testing"
)

func TestNormalCDF(t *testing.T) {
	for _, tt := range []struct{ reach, relative float64 }{{3, 2e-14}, {5, 5e-11}, {reach, 3e-9}} {
		for u := -tt.reach; u <= tt.reach; u += 1e-3 {
			cdf, hazard := normalCDF(u)
			want := math.Erfc(-u/math.Sqrt2) / 2
			if math.Abs(cdf-want) > 3e-16 || math.Abs(cdf/want-1) > tt.relative {
				t.Fatalf("Φ(%v) = %v, want %v", u, cdf, want)
			}
			if want := math.Exp(-u*u/2) / want; math.Abs(hazard/want-1) > tt.relative {
				t.Fatalf("φ/Φ at %v is %v, want %v, over √(2π)", u, hazard, want)
			}
		}
	}
}
