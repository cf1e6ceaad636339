// Package evolve searches for better programs, with a bandit that decides which of several searches goes on.
// An [Arm] is a search; it knows nothing of bandits, and a [bandit.Policy] nothing of programs. [Run] brings them
// together under a [Budget]. A search of your own embeds a [Breeder] and says which child is made of what. A
// [Breadth] says how many a step makes. [Config.Journal] makes a run durable.
package evolve
