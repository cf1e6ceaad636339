// Package analysis draws conclusions from the results of searches, with their uncertainty. Everything in it is a pure
// function of its arguments; random numbers are addressed by a seed. docs/operations.md has the formulas.
//
//   - Methods: [Scores] hold a number a run by stratum, and a [Bootstrap] gives statistics and differences of them an
//     interval. [RunsFor] plans more runs.
//   - Depth and breadth: [Read] reads a [Curve], [NewGrid] makes mean scores by split, and a [Grid] has the [Surface]
//     that fits them, the best split of a budget with its interval, and what simpler models and the data say against
//     it.
package analysis
