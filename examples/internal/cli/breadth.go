package cli

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// The values of --breadth.
const (
	fixed    = "fixed"
	adaptive = "adaptive"
)

var breadths = []string{fixed, adaptive}

// registerBreadth adds the flags for the number of children in a generation.
func (o *Options) registerBreadth(fs *flag.FlagSet) {
	fs.StringVar(&o.Breadth, "breadth", "",
		"how many children a generation has: fixed or adaptive (default: adaptive)\n"+
			"fixed means --N each time; adaptive means as many as bring the most for their calls. With --window the "+
			"default is fixed.")
	fs.Float64Var(&o.Second, "second", 0,
		"what a second of wall time is worth, in model `calls`\n"+
			"The more, the wider are the generations of --breadth adaptive, and the fewer.")
}

// CheckBreadth checks these flags, and fills in the default. window means that a better child becomes the parent of
// those begun after it, so that wide generations waste nothing.
func (o *Options) CheckBreadth(window bool) error {
	if o.Breadth == "" {
		o.Breadth = adaptive
		if window {
			o.Breadth = fixed
		}
	}
	switch {
	case !slices.Contains(breadths, o.Breadth):
		return Usagef("--breadth is %q: it is %s", o.Breadth, strings.Join(breadths, ", "))
	case !(o.Second >= 0) || math.IsInf(o.Second, 0):
		return Usagef("--second is %v: need 0, or the calls that a second is worth", o.Second)
	case o.Second > 0 && o.Breadth != adaptive:
		return Usagef("--second has no effect with --breadth %s", o.Breadth)
	}
	return nil
}

// Children returns the Breadth of generations, or nil for --N children in each.
func (o *Options) Children() evolve.Breadth {
	if o.Breadth == adaptive {
		return breadth.Adaptive{Second: o.Second, Max: o.N, Better: o.better}
	}
	return nil
}

// breadthOf returns in one line the numbers of children in a run's generations, and what decided them.
func (o *Options) breadthOf(r *evolve.Result) string {
	generations, least, most := 0, math.MaxInt, 0
	for _, arm := range r.Arms {
		for _, g := range arm.Generations {
			n := len(g.Children)
			generations++
			least, most = min(least, n), max(most, n)
		}
	}
	name := fixed
	if b := o.Children(); b != nil {
		name = fmt.Sprint(b)
	}
	made := Count(generations, "generation", "generations")
	switch {
	case generations == 0:
		return "breadth: " + name
	case least == most:
		return fmt.Sprintf("breadth: %s; %s of %s", name, made, Count(most, "child", "children"))
	}
	return fmt.Sprintf("breadth: %s; %s of %d to %d children", name, made, least, most)
}
