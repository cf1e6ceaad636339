// Package analysis turns the results of searches into what can be said of them, and how surely: comparisons of
// methods with intervals, the surface of the score over depth and breadth, the best split of a budget, the
// calls to a score, and what a bandit did with its arms.
//
// Everything here is a pure function of its arguments. Random numbers are addressed by an explicit seed, so equal
// arguments give equal results. Each function has its formula and its source; docs/analysis.md has them in one
// place.
//
// # Comparing methods
//
// [Scores] hold a number a run by stratum: a task, a family, a setting. [Bootstrap.Estimate] gives a [Statistic] of
// them with an interval, [Bootstrap.Paired] and [Bootstrap.Unpaired] compare two methods, [SignFlip] tests a paired
// difference, and [Holm] corrects several tests. [Bootstrap.Profile] has the whole distribution. [RunsFor] says
// how many runs an interval of a given width takes.
//
// # Depth and breadth
//
// A [Run] is read from a result file, ours or the BaSE paper's, by [Read]. [NewGrid] makes a [Grid] of mean scores by
// split. [Grid.Surface] fits the bilinear surface, [Surface.Split] gives the best split of a budget, and
// [Grid.Intervals] says how sure both are. [Grid.Rivals], [Grid.HeldOut] and [Grid.Envelope] hold them against
// simpler models and against what was observed. [Bootstrap.Threshold] is how long runs need to a score.
//
// # Bandits
//
// [Allocate] works out regret and shares of pulls. Package evolve/replay estimates what another policy would have got.
package analysis
