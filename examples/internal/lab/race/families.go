// Package race plays policies over searches whose steps may have any width, in simulated time. bandit/sim has the
// studies and the families that are formulas; here are those that are searches, on objectives that are cheap to score.
package race

import "github.com/evoalloc/evoalloc/bandit/sim"

// Synthetic returns the families that are made from formulas and that policies were tuned on.
func Synthetic() []sim.Family {
	return formulas("heavy-tail", "plateaus", "power-law", "first-impressions", "breakthrough", "late-bloomers", "draws",
		"staircase")
}

// Families returns the synthetic families and the hill climbs, twenty in all.
func Families() []sim.Family {
	all := Synthetic()
	for _, h := range HillClimbs() {
		all = append(all, h)
	}
	return all
}

// Unlike returns families that are unlike those of [Families]: late and sudden jumps, arms near the ceiling, dead arms,
// noise that shrinks, arms that do not differ, linear rise, curves that cross, and the [Landscapes].
func Unlike() []sim.Family {
	all := append(formulas("late-jumps", "near-top", "dead-arms"), untuned()...)
	for _, l := range Landscapes() {
		all = append(all, l)
	}
	return all
}

// Deciding returns the families of [Unlike] that nothing in this library was tuned on: the constants of
// bandit.ExpectedImprovement and of breadth.Adaptive were chosen on the others and on Families. Claims are checked on
// these. Whoever tunes on them has to make others.
func Deciding() []sim.Family {
	return append(untuned(), Landscape{Kind: "maxcut"}, Landscape{Kind: "knapsack"}, Landscape{Kind: "ackley"})
}

// HeldOut returns the families that bandit.Challenge was checked on, and neither it nor anything else was tuned on:
// five whose searches differ, and then seven whose searches differ by luck.
func HeldOut() []sim.Family {
	return append(formulas("crossing", "linear", "shrinking-noise", "leaping-ideas", "polish", "exchangeable"),
		Landscape{Kind: "maxcut"}, Landscape{Kind: "knapsack"}, Landscape{Kind: "ackley"},
		HillClimb{Objective: "mmd", Few: true}, HillClimb{Objective: "ht", Rounded: true},
		HillClimb{Objective: "cp", Rounded: true, Few: true})
}

// Ideas returns the families of formulas that bandit.Challenge was tuned on and that are in no other group.
func Ideas() []sim.Family { return formulas("ideas", "fast-or-high", "steady-luck", "rare-luck") }

func untuned() []sim.Family {
	return formulas("shrinking-noise", "exchangeable", "linear", "crossing")
}

// formulas returns families of package sim, which can be stepped here.
func formulas(names ...string) []sim.Family {
	var all []sim.Family
	for _, name := range names {
		all = append(all, formula{sim.Named(name)})
	}
	return all
}
