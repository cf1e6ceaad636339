package presets

import "github.com/evoalloc/evoalloc/evolve/population"

// A Preset is one by its name.
type Preset struct {
	Name   string
	Config func(population.Config) population.Config
}

// New returns the search.
func (p Preset) New(c population.Config) (*population.Population, error) {
	return population.New(p.Config(c))
}

// Presets are all of them.
var Presets = []Preset{{"greedy", Greedy}, {"openevolve", OpenEvolve}, {"shinka", Shinka}, {"gepa", GEPA},
	{"adaevolve", AdaEvolve}, {"llm-evo", LLMEvo}, {"evoprompt-ga", EvoPromptGA}, {"evoprompt-de", EvoPromptDE},
	{"dgm", DGM}}
