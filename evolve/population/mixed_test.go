package population_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// mixed is a search with a part of each kind.
func mixed(t testing.TB, l llm.LLM, window int, order evolve.Order) population.Config {
	return population.Config{Task: numbers(t, "0"), LLM: l, N: 40, Seed: 40, Window: window, Order: order,
		Archive: population.Top(5), Select: population.Best{},
		Operators: []population.Operator{population.Rewrite{}, population.Rewrite{Label: "different", Instruction: "Write another number."}},
		Credit:    population.Rank,
	}
}
