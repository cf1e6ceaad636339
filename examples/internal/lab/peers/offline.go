package peers

import "github.com/evoalloc/evoalloc/examples/internal/lab/standin"

// Offline returns what the stand-in model has to be able to for the parts of these searches to act: it crosses programs
// where it is asked to, heeds instructions and notes mostly, and sums up attempts. With its defaults it changes numbers,
// whatever it is asked for, and of several programs any; of prompts it changes lines. structure is the Structure of
// [offline.Config].
func Offline(structure float64) standin.Abilities {
	return standin.Abilities{Structure: structure, Splice: 0.9, Heed: 0.7, Prose: 1, Insights: true}
}
