package peers

import "github.com/evoalloc/evoalloc/examples/internal/standin"

// Offline returns the abilities of the stand-in model that the parts of these searches need: it crosses programs where
// it is asked to, heeds instructions and notes mostly, and sums up attempts. With its defaults it changes numbers,
// whatever it is asked for, and of several programs any; of prompts it changes lines.
func Offline() standin.Abilities {
	return standin.Abilities{Splice: 0.9, Heed: 0.7, Prose: 1, Insights: true}
}
