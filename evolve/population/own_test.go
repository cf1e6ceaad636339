package population_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// A scribbler writes to every member that it is given.
type scribbler struct{}

func scribble(members ...*population.Member) {
	for _, m := range members {
		m.Result.Valid, m.Result.Score, m.ID = true, 1e6, 7
		if m.Result.Metrics != nil {
			m.Result.Metrics["value"] = 1e6
		}
	}
}

func (scribbler) Name() string { return "scribble" }

func (scribbler) Brief(v *population.View) evolve.Brief {
	b := v.Brief()
	scribble(v.Parent)
	scribble(v.All.Members()...)
	scribble(v.Part.Members()...)
	scribble(v.Invalid...)
	for id := range v.Birth {
		if m, ok := v.Lookup(id); ok {
			scribble(m)
		}
	}
	return b
}

func (scribbler) Admit(_ context.Context, v *population.View, _ string) (string, error) {
	scribble(v.Parent)
	return "", nil
}

func (scribbler) Follow(b population.Birth) {
	if b.Parent != nil {
		scribble(b.Parent)
	}
}

func (scribbler) Section(v *population.View) (none task.Section) {
	scribble(v.Parent)
	return none
}

func (scribbler) Learn(_ context.Context, s *population.Season) error {
	for _, b := range s.Births {
		scribble(b.Parent)
		if b.Result.Metrics != nil {
			b.Result.Metrics["value"] = 1e6
		}
	}
	if s.Best.Result.Metrics != nil {
		s.Best.Result.Metrics["value"] = 1e6
	}
	return nil
}

// Whatever the parts write to what they are given, a search claims what was scored: with exact scores, and where
// members are scored again or race, with the samples pooled.
func TestPartsCannotChangeTheClaim(t *testing.T) {
	value := func(program string) float64 {
		v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tk := made(t, task.Spec{Name: "numbers", Language: "text", Initial: "0",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
			if err != nil {
				return eval.Invalid("not a number"), nil
			}
			return eval.Result{Score: v, Valid: true, Metrics: map[string]float64{"value": v}}, nil
		})})
	for name, cfg := range map[string]population.Config{
		"exact":   {Archive: population.Top(4)},
		"rescore": {Archive: population.Top(4), Noise: &evolve.Noise{Rescore: 0.5, Fresh: -1}},
		"islands": {Archive: &population.Islands{Of: []population.Archive{population.Top(3), population.All(9)}, Every: 5},
			Noise: &evolve.Noise{Rescore: 0.5, Fresh: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Task, cfg.LLM, cfg.N, cfg.Window, cfg.Seed = tk, climber, 8, 1, 3
			cfg.Operators, cfg.Gates, cfg.Memory = []population.Operator{scribbler{}}, []population.Gate{scribbler{}},
				[]population.Memory{scribbler{}}
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{newPopulation(t, cfg)},
				Budget: evolve.Budget{Rounds: 12}})
			if err != nil {
				t.Fatal(err)
			}
			best, most := res.Best, 0.0
			for _, g := range res.Arms[0].Generations {
				for _, c := range g.Children {
					if c.Scored() && c.Result.Valid {
						most = max(most, c.Result.Score)
					}
				}
			}
			if v := value(best.Program); best.Result.Score != v || best.Result.Metrics["value"] != v || most <= 0 {
				t.Errorf("claims %v, metrics %v, for a program that scores %v; the best child scores %v", best.Result.Score,
					best.Result.Metrics, v, most)
			}
			if v := value(best.Program); v != most {
				t.Errorf("claims a program that scores %v, and the best child scores %v", v, most)
			}
		})
	}
}
