package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/advise"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// between returns the contender of a name that has a search for each breadth of a list, "1+4+16". Its policy is one of all,
// or one that is of use between breadths alone: advise, also advise:S for a pilot with the share S of the calls, or
// halves, successive halving that counts calls.
func between(all []sim.Contender, name, policy, list string) (c sim.Contender, err error) {
	breadths, err := breadthsOf(list)
	if err != nil {
		return c, err
	}
	if i := slices.IndexFunc(all, func(c sim.Contender) bool { return c.Name == policy }); i >= 0 {
		c = all[i]
		if slices.Contains(cli.PolicyKeys(), policy) {
			c.New = policyOf(policy, func(sim.Setting) int { return 0 }) // how many pulls there will be is not known
		}
	}
	switch kind, share, given := strings.Cut(policy, ":"); {
	case kind == "advise":
		s := advise.DefaultShare
		if given {
			if s, err = strconv.ParseFloat(share, 64); err != nil || !(s > 0 && s < 1) {
				return c, fmt.Errorf("policy %q: need a share of the calls after the colon, above 0 and below 1", policy)
			}
		}
		c.New = func(setting sim.Setting) bandit.Policy { return &advise.Policy{Calls: setting.Calls(), Share: s} }
	case policy == "halves":
		c.New = func(s sim.Setting) bandit.Policy { return &halves{breadths: breadths, calls: s.Calls()} }
	case c.New == nil:
		return c, fmt.Errorf("unknown policy %q: with several breadths it is advise, advise:S, halves, or one of %s", policy, strings.Join(names(all), ", "))
	}
	c.Name = name
	for _, n := range breadths {
		c.Breadths = append(c.Breadths, evolve.Fixed(n))
	}
	return c, nil
}

// breadthsOf reads a list of numbers of children, "1+4+16".
func breadthsOf(list string) ([]int, error) {
	var breadths []int
	for _, item := range strings.Split(list, "+") {
		n, err := strconv.Atoi(item)
		if err != nil || n < 1 || n > evolve.MaxN {
			return nil, fmt.Errorf("breadths %q: need numbers of children, 1 to %d, as in 1+4+16", list, evolve.MaxN)
		}
		breadths = append(breadths, n)
	}
	return breadths, nil
}

// halves is successive halving of arms whose pulls differ in size: each of ⌈log₂ K⌉ rungs has as many calls, shared
// evenly by the arms that are left, and the worse half of them goes. See [bandit.SuccessiveHalving], which counts pulls.
type halves struct {
	breadths []int
	calls    int
	had      []int
	best     []float64
	left     []int // arms
	due      int   // calls of each arm that is left up to the end of the rung
}

// String names the policy and its parameters.
func (h *halves) String() string { return fmt.Sprintf("Halves(%v, C=%d)", h.breadths, h.calls) }

// Probs gives mass 1 to the open arm with the fewest calls of those that are left, or to the first open one.
func (h *halves) Probs(p []float64, r bandit.Round) {
	h.begin()
	next := slices.Index(r.Open, true)
	for i, arm := range slices.DeleteFunc(slices.Clone(h.left), func(arm int) bool { return !r.Open[arm] }) {
		if i == 0 || h.had[arm] < h.had[next] {
			next = arm
		}
	}
	p[next] = 1
}

// Update records one outcome, and ends the rung if all that are left have had theirs.
func (h *halves) Update(pull bandit.Pull, reward float64) {
	h.begin()
	h.had[pull.Arm] += pull.Calls
	h.best[pull.Arm] = reward
	if len(h.left) == 1 || slices.ContainsFunc(h.left, func(arm int) bool { return h.had[arm] < h.due }) {
		return
	}
	slices.SortStableFunc(h.left, func(a, b int) int { return cmp.Compare(h.best[b], h.best[a]) })
	h.left = h.left[:(len(h.left)+1)/2]
	h.rung()
}

func (h *halves) begin() {
	if h.had == nil {
		h.had, h.best = make([]int, len(h.breadths)), make([]float64, len(h.breadths))
		for i := range h.breadths {
			h.left = append(h.left, i)
		}
		h.rung()
	}
}

func (h *halves) rung() {
	rungs := int(math.Ceil(math.Log2(float64(len(h.breadths)))))
	h.due += h.calls / max(rungs, 1) / len(h.left)
}
