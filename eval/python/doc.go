// Package python runs candidates written in Python, fast and contained.
//
// Starting CPython and importing numpy takes far longer than most candidates do. So a few
// interpreters, the zygotes, start and import once, and fork a fresh process for each candidate. A
// zygote confines itself before it forks anything, and its forks inherit that: on Linux, without root
// and without anything installed, namespaces, Landlock, seccomp and limits; [Config] says how
// much of that is required, [Runner.Isolation] how much there is, and docs/security.md what each mechanism stops.
//
// There are two ways to score. A [Runner] runs a program's entry function and returns what it returned
// as data; under [eval.Scored] the score is computed in Go, where the program cannot reach. An
// [Evaluator] runs the evaluator.py of a folder as it is.
//
// A zygote runs one candidate at a time. A candidate may end by itself, at a limit or with its zygote. In each
// case all its processes are killed and its temporary folder is emptied before the next candidate.
package python
