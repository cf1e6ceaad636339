// Package evolve searches for better programs, with a bandit that decides which of several searches goes on. An [Arm]
// is a search, a [bandit.Policy] the bandit, and neither knows the other. [Run] brings them together under a [Budget].
// A search of your own embeds a [Breeder]. [Config.Journal] makes a run durable.
package evolve
