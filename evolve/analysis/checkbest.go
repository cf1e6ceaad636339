package analysis

import (
	"errors"
	"fmt"
	"math"
)

// finite reports whether v is finite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// checkBest returns an error unless the best scores after 0, 1, ... steps are finite and never fall. each names the
// steps.
func checkBest(best []float64, each string) error {
	if len(best) == 0 {
		return errors.New("no score to start from")
	}
	for i, v := range best {
		if !finite(v) || i > 0 && v < best[i-1] {
			return fmt.Errorf("a best score of %v after %d %s: need finite numbers that do not fall", v, i, each)
		}
	}
	return nil
}
