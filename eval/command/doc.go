// Package command runs candidates in any language through a command, contained as far as this machine
// allows.
//
// The candidate is written to a file in a temporary folder, the command is started with the file's path among its
// arguments, and its standard output is read as JSON: by an [Evaluator] as a score, by a [Runner] as data for
// [eval.Scored] to score in Go, where the candidate cannot reach.
//
// Config.Build, Run and Score are commands for separately contained steps: a candidate can leave data for a scorer that
// runs in a later step, but no settings or modules that the scorer's tools would obey.
//
// An [Editor] runs a command that changes a program, such as an agent that writes code, and returns the program that it
// leaves.
//
// [Config] sets the required containment, [Evaluator.Isolation] reports the actual one, and docs/security.md explains
// what each mechanism stops.
package command
