package population_test

import (
	"context"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// Each child's call has one of the temperatures, and each temperature its share.
func TestTemperatures(t *testing.T) {
	seen := map[float64]int{}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if req.Temperature == nil {
			t.Error("a request without a temperature")
			return ok("1"), nil
		}
		seen[*req.Temperature]++
		return ok("1"), nil
	})
	p := newPopulation(t, population.Config{Task: numbers(t, "1"), LLM: llm.Limit(model, 1), N: 300,
		Temperatures: []float64{0, 0.5, 1}})
	if _, err := p.Step(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, at := range []float64{0, 0.5, 1} {
		if n := seen[at]; n < 65 || n > 135 { // four standard deviations about 100
			t.Errorf("%d of 300 calls are at %v", n, at)
		}
	}
	if name := p.String(); !strings.Contains(name, "at temperatures [0 0.5 1]") {
		t.Errorf("it prints itself as %s", name)
	}
	if _, err := population.New(population.Config{Task: numbers(t, "1"), LLM: model,
		Temperatures: []float64{0.5, -1}}); err == nil ||
		!strings.Contains(err.Error(), "Config.Temperatures is [0.5 -1]") {
		t.Errorf("a temperature below 0: %v", err)
	}
}
