package population

import (
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/evolve"
)

// Repair asks the model to mend an invalid program. The prompt has the reason why it is invalid, as of any parent that
// is. Its child is credited for being valid.
//
// ShinkaEvolve has it while no program is valid. OpenEvolve's users ask for it (issues 70, 192).
type Repair struct {
	Select Selector // among the newest 32 invalid programs, oldest first; nil means the newest
}

var _ abler = Repair{}

const mending = "The program is invalid for the reason above. Find the cause and repair it, and change nothing else."

func (o Repair) validate() error {
	if o.Select == nil {
		return nil
	}
	return valid(o.Select)
}

// Name returns "repair".
func (o Repair) Name() string { return "repair" }

// Able reports whether a program was invalid.
func (o Repair) Able(v *View) bool { return len(v.Invalid) > 0 }

// Brief makes an invalid program the parent.
func (o Repair) Brief(v *View) evolve.Brief {
	by := o.Select
	if by == nil {
		by = SelectorFunc(newest)
	}
	v.Parent = by.Select(v.Invalid, v.Rand)
	b := v.Brief()
	b.Instruction = mending
	return b
}

func newest(from []*Member, _ *rand.Rand) *Member { return from[len(from)-1] }
