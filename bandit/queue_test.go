package bandit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Against a plain slice, summed anew.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q queue
	var plain []float64
	for range 5000 {
		if len(plain) > 0 && rng.IntN(5) < 2 {
			q.pop()
			plain = plain[1:]
		} else {
			x := rng.NormFloat64()
			q.push(x)
			plain = append(plain, x)
		}
		var sum float64
		for _, x := range plain {
			sum += x
		}
		if q.len() != len(plain) || math.Abs(q.sum()-sum) > 1e-10 {
			t.Fatalf("%d numbers of sum %v, want %d of %v", q.len(), q.sum(), len(plain), sum)
		}
	}
	for _, x := range []float64{0.1, 1e300, 0.1, 0.2} {
		q.push(x)
	}
	for q.len() > 2 {
		q.pop()
	}
	if math.Abs(q.sum()-0.3) > 1e-15 {
		t.Errorf("sum %v after a large number has left, want 0.3", q.sum())
	}
}
