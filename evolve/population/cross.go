package population

import (
	"cmp"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
)

// Cross asks the model to combine the parent with other members of its island.
type Cross struct {
	Label       string   // its name; "" means "cross"
	Partners    int      // how many are shown beside the parent; 0 means 1
	Select      Selector // chooses them; nil means [Uniform]
	Instruction string   // "" means a request to combine the programs
	// Self shows the parent itself in place of each partner. It is the placebo: what it gains, the prompt gains and
	// not the partner.
	Self bool
}

var _ Abler = Cross{}

// crossing is the default instruction.
const crossing = "Combine the programs: keep what is good in program 1, and take over from the others what would " +
	"raise its score."

// Validate fails if Partners is negative or Select is wrong.
func (o Cross) Validate() error {
	if o.Partners < 0 {
		return fmt.Errorf("population: Cross.Partners is %d: need 0 for 1, or more", o.Partners)
	}
	return valid(o.Select)
}

// Name returns Label, or "cross".
func (o Cross) Name() string { return cmp.Or(o.Label, "cross") }

// Able reports whether there is anyone to cross with.
func (o Cross) Able(v *View) bool { return o.Self || others(v.Part.Members()) }

// others reports whether two members may be chosen: two that are valid, or two that are not if none is.
func others(members []Member) bool {
	valid := 0
	for i := range members { // two valid ones stand first in most archives
		if members[i].Result.Valid {
			valid++
		}
		if valid > 1 {
			return true
		}
	}
	return valid == 0 && len(members) > 1
}

// Brief chooses the partners.
func (o Cross) Brief(v *View) evolve.Brief {
	n := cmp.Or(o.Partners, 1)
	var partners []Member
	if o.Self {
		for range n {
			partners = append(partners, v.Parent)
		}
	} else {
		by := o.Select
		if by == nil {
			by = Uniform()
		}
		partners = v.Sample(v.Part.Members(), by, n)
	}
	b := v.Brief(partners...)
	b.Instruction = cmp.Or(o.Instruction, crossing)
	return b
}
