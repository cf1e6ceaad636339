// Package command runs candidates in any language through a command, contained as far as this machine
// allows.
//
// The candidate is written to a file in a temporary folder, the command is started with the file's
// path among its arguments, and what it prints on standard output is read as JSON: by an [Evaluator]
// as a score, by a [Runner] as data for [eval.Scored] to score in Go, where the candidate cannot
// reach.
//
// Config.Build, Run and Score are commands for steps that are contained each by itself: a candidate can leave data
// for a scorer that runs in a later step, and no setting or module that the scorer's tools obey.
//
// [Config] says how much containment is required, [Evaluator.Isolation] how much there is, and docs/security.md what each
// mechanism stops.
package command
