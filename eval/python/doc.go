// Package python runs candidates written in Python, quickly and contained.
//
// Starting CPython and importing numpy takes far longer than running most candidates. So a few interpreters, the
// zygotes, start and import once, and fork a fresh process for each candidate. A zygote confines itself before it
// forks, and its forks inherit the confinement: on Linux, without root and with nothing to install, namespaces,
// Landlock, seccomp and limits. [Config] sets the required level, [Runner.Isolation] reports the actual one, and
// docs/security.md explains what each mechanism stops.
//
// There are two ways to score. A [Runner] runs a program's entry function and returns its return value as data; under
// [eval.Scored] the score is computed in Go, where the program cannot reach. An [Evaluator] runs the evaluator.py of a
// folder unchanged.
//
// What a task needs beyond that is let in by name: Env, With, Writable and Devices of a [Config]. A reason that comes
// of containment names what lifts it.
//
// A zygote runs one candidate at a time. A candidate may end by itself, at a limit or with its zygote. In each
// case all its processes are killed and its temporary folder is emptied before the next candidate.
package python
