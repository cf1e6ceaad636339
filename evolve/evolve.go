// Package evolve searches for better programs, with a bandit that decides which of several searches goes on.
//
// An [Arm] is a search, advanced a step at a time; it knows nothing of bandits, and a [bandit.Policy] nothing
// of programs. [Run] brings them together under a [Budget] and returns a [Result]. A search of your own embeds
// a [Breeder], which keeps every rule that a search has to keep, and says which child is made of what. What it
// asks of a model or an evaluator goes through its [Turn]. [Config.Journal] makes a run durable.
package evolve
