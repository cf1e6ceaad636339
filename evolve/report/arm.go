package report

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/flops"
)

// An Arm is the report of one search.
type Arm struct {
	Seed         int64              `json:"seed"`
	FinalFitness float64            `json:"final_fitness"` // of the best program
	FinalMetrics map[string]float64 `json:"final_metrics"` // of the same
	Trajectory   []Generation       `json:"trajectory"`    // by generation, from 0
	FLOPs        Cost               `json:"flops"`
	PerGen       []float64          `json:"flops_per_generation"` // by generation from 1, in the worst case
	Counts
}

func newArm(arm evolve.ArmResult, seed int64, active int64) Arm {
	r := Arm{
		Seed:         seed,
		FinalFitness: arm.Best.Result.Score,
		FinalMetrics: arm.Best.Result.Metrics,
		Trajectory:   []Generation{startRow(arm)},
		FLOPs:        newCost(arm.Attempts, active),
		PerGen:       []float64{},
		Counts:       newCounts(arm.EachCall),
	}
	if r.FinalMetrics == nil {
		r.FinalMetrics = map[string]float64{}
	}
	for _, g := range arm.Generations {
		r.Trajectory = append(r.Trajectory, newGeneration(g))
		r.PerGen = append(r.PerGen, worstCase(g, active))
	}
	return r
}

// worstCase returns the FLOPs of a generation, timeouts charged in full.
func worstCase(g evolve.Generation, active int64) float64 {
	return flops.Sum(g.Attempts, active, flops.WorstCase).TotalFLOPs
}
