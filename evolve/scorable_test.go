package evolve

import (
	"math"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
)

// Pulls without a limit that an older journal holds leave no room for more children, however many are pending.
func TestUnlimitedPullsLeaveNoRoom(t *testing.T) {
	b := Budget{EvalTime: time.Hour, EvalWorst: time.Second}
	for n := 1; n <= 9; n++ {
		d := &driver{cfg: Config{Budget: b}, shared: &shared{ledger: newLedger(b, ledger.Amounts{})}, pending: make(map[int]pull)}
		for i := range n {
			d.pending[i] = pull{most: math.MaxInt}
		}
		if most, limited := d.scorable(); most != 0 || !limited {
			t.Errorf("%d pulls: room for %d, limited %v", n, most, limited)
		}
	}
}
