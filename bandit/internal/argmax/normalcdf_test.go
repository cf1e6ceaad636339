package argmax

import (
	"math"
	"testing"
)

func TestNormalCDF(t *testing.T) {
	table := newNormalTable()
	for _, tt := range []struct{ reach, cdf, density float64 }{{3, 2e-12, 2e-10}, {5, 3e-10, 2e-8},
		{reach - 1e-9, 3e-9, 2e-7}} {
		var most, cdfs, densities float64
		for u := -tt.reach; u <= tt.reach; u += 1e-3 {
			cdf, density := table.at(u)
			want, wantDensity := math.Erfc(-u/math.Sqrt2)/2, math.Exp(-u*u/2)/math.Sqrt(2*math.Pi)
			most = max(most, math.Abs(cdf-want))
			cdfs = max(cdfs, math.Abs(cdf/want-1))
			densities = max(densities, math.Abs(density/wantDensity-1))
		}
		if cdf, _ := table.at(math.Nextafter(reach, 0)); cdf > 1 || cdf < 1-2e-12 {
			t.Errorf("just within reach Φ is %v", cdf)
		}
		if most > 1e-13 || cdfs > tt.cdf || densities > tt.density {
			t.Errorf("within ±%v Φ is off by up to %.1e, relative to itself by %.1e and φ by %.1e", tt.reach, most, cdfs,
				densities)
		}
	}
}
