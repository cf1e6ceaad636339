// Package sweep makes grids of runs: tasks, models, methods, budgets and seeds. A sweep answers how a budget of model
// calls should be split between depth (generations, T) and breadth (children in each, N), how the best split moves with
// the budget C = T·N, and what a bandit or a population adds.
//
// A [Plan] defines the grid, and [Plan.Cost] returns its cost. [Plan.Run] makes it: many runs at once under common
// limits on calls and evaluations, each with a journal of its own. Called again with the same folder, it resumes:
// finished runs are read from their files, and interrupted ones are continued.
//
// # Trials and cells
//
// A [Cell] is a cell of the grid, with one seed: a task, a model, a method, a breadth N and a number of generations T.
// A [Trial] is the unit that is made and paid for. They differ because a greedy search of T generations contains every
// shorter one child for child (the seed of a child does not depend on T, see [evolve.ChildSeed]). So one run serves the
// cells of every budget that its breadth divides, and a grid of budgets costs little more than its largest. Cells of
// one run are not independent: resample runs, not cells.
//
// # Files
//
// In the folder, each run has three files with one name: NAME.journal, the result NAME.json in the paper's form
// (package report), and NAME.done, the marker of a finished run. runs.csv has a row for each run and generation.
package sweep
