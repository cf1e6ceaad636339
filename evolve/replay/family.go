package replay

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Family has logged searches as arms, so that policies can be compared over them by [sim.Study]. Each seed
// deals them out in another order, so K arms are K of the logged searches. Its pulls are those of [Curves], of [Size]
// calls each, whatever the address says. An arm ends where its log does. Scores should be in [0, 1] for policies
// that expect rewards there.
type Family struct {
	Name string // what the family is called; the order of the searches depends on it too
	Arms []Arm  // at least as many as the arms asked for
}

var _ sim.Family = Family{}

// Arm implements [sim.Family]. It panics if the log has fewer searches than a.Index says.
func (f Family) Arm(a sim.Address) []float64 {
	if a.Index < 0 || a.Index >= len(f.Arms) {
		panic(fmt.Sprintf("replay: arm %d of %q, which has %d searches", a.Index, f.Name, len(f.Arms)))
	}
	order := stream.New(a.Seed, "replay/"+f.Name, 0).Perm(len(f.Arms))
	best := f.Arms[order[a.Index]].curve(differ(f.Arms))
	return best[:min(len(best), a.Rounds+1)]
}

// String returns the Name.
func (f Family) String() string { return f.Name }
