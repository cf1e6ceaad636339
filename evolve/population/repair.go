package population

import "github.com/evoalloc/evoalloc/evolve"

// Repair asks the model to mend an invalid program. The prompt has the reason why it is invalid, as of any parent that
// is. Its child is credited for being valid.
//
// ShinkaEvolve has it while no program is valid. OpenEvolve's users ask for it (issues 70, 192).
type Repair struct {
	Select Selector // among the newest 32 invalid programs, oldest first; nil means the newest
}

var _ Abler = Repair{}

const mending = "The program is invalid for the reason above. Find the cause and repair it, and change nothing else."

// Validate fails if Select is wrong.
func (o Repair) Validate() error { return valid(o.Select) }

// Name returns "repair".
func (o Repair) Name() string { return "repair" }

// Able reports whether a program was invalid.
func (o Repair) Able(v *View) bool { return len(v.Invalid) > 0 }

// Brief makes an invalid program the parent.
func (o Repair) Brief(v *View) evolve.Brief {
	at := len(v.Invalid) - 1
	if o.Select != nil {
		at = o.Select.Select(v.Invalid, v.Rand)
	}
	v.Parent = v.Invalid[at]
	b := v.Brief()
	b.Instruction = mending
	return b
}
