package layering

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A shop is a scheduling problem: in which order to begin jobs. Which order is good depends on the shop: on one machine
// short and heavy jobs go first if all wait for them, and urgent ones if lateness counts; on several the long ones go
// first; with two stages those that are short in the first and long in the second.
type shop struct {
	Jobs     [][4]float64 `json:"jobs"` // time in the first stage, in the second, weight, due date
	Machines float64      `json:"machines"`
	Stages   float64      `json:"stages"`
	Late     float64      `json:"late"` // share of lateness in the cost of one machine, the rest being weighted completion
	best     float64      // the cost of the best known rule
	worst    float64      // the cost of the worst known rule or reversed rule
}

// kinds is how many kinds of shops there are.
const kinds = 4

// newShops returns n shops of each kind. Seeds address them.
func newShops(seed uint64, n int) []shop {
	var all []shop
	for kind := range kinds {
		for i := range n {
			all = append(all, newShop(rand.New(rand.NewPCG(seed+uint64(i), uint64(kind))), kind))
		}
	}
	return all
}

func newShop(r *rand.Rand, kind int) shop {
	s := shop{Machines: 1, Stages: 1}
	switch kind {
	case 0:
		s.Late = 0.25 * r.Float64()
	case 1:
		s.Machines = float64(2 + r.IntN(4))
	case 2:
		s.Late = 1 - 0.25*r.Float64()
	case 3:
		s.Stages = 2
	}
	const jobs = 20
	due := 0.0 // of jobs done in the order in which they come, so that it can be met
	for range jobs {
		j := [4]float64{math.Ceil(20 * r.Float64()), 0, math.Ceil(5 * r.Float64()), 0}
		if kind == 3 {
			j[1] = math.Ceil(20 * r.Float64())
		}
		due += j[0]
		j[3] = math.Round(due * (0.9 + 0.2*r.Float64()))
		s.Jobs = append(s.Jobs, j)
	}
	r.Shuffle(jobs, func(i, k int) { s.Jobs[i], s.Jobs[k] = s.Jobs[k], s.Jobs[i] })
	s.best = math.Inf(1)
	for _, rule := range rules {
		var p []float64
		for _, j := range s.Jobs {
			p = append(p, rule(j))
		}
		cost := s.cost(p)
		for i := range p {
			p[i] = -p[i]
		}
		s.best, s.worst = min(s.best, cost), max(s.worst, cost, s.cost(p))
	}
	return s
}

// rules are the textbook's: longest first; weight by time (Smith 1956); earliest due date (Jackson 1955); and Johnson's
// for two stages (1954).
var rules = []func(j [4]float64) float64{
	func(j [4]float64) float64 { return j[0] },
	func(j [4]float64) float64 { return j[2] / j[0] },
	func(j [4]float64) float64 { return -j[3] },
	func(j [4]float64) float64 {
		if j[0] < j[1] {
			return 1000 - j[0]
		}
		return j[1]
	},
}

// cost is that of beginning jobs in order of priority, the highest first, and of equal ones the first.
func (s shop) cost(priority []float64) float64 {
	order := make([]int, len(s.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		switch {
		case priority[i] > priority[k]:
			return -1
		case priority[i] < priority[k]:
			return 1
		}
		return 0
	})
	switch {
	case s.Stages > 1:
		return s.flow(order)
	case s.Machines > 1:
		return s.makespan(order)
	}
	now, cost := 0.0, 0.0
	for _, i := range order {
		j := s.Jobs[i]
		now += j[0]
		cost += j[2] * (s.Late*max(0, now-j[3]) + (1-s.Late)*now)
	}
	return cost
}

// makespan is when the last machine ends, each job going to the one that is free first.
func (s shop) makespan(order []int) float64 {
	free := make([]float64, int(s.Machines))
	for _, i := range order {
		at := 0
		for m := range free {
			if free[m] < free[at] {
				at = m
			}
		}
		free[at] += s.Jobs[i][0]
	}
	return slices.Max(free)
}

// flow is when the second stage ends.
func (s shop) flow(order []int) float64 {
	first, second := 0.0, 0.0
	for _, i := range order {
		first += s.Jobs[i][0]
		second = max(first, second) + s.Jobs[i][1]
	}
	return second
}

// score is 1 for the best known rule and 0 for the worst, and more or less for what is better or worse.
func (s shop) score(priority []float64) float64 {
	return (s.worst - s.cost(priority)) / (s.worst - s.best)
}
