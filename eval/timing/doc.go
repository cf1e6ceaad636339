// Package timing scores a program by its speed relative to a baseline, where the program can reach neither the clock
// nor the check.
//
// A [Machine] keeps one candidate and the baseline in two contained processes that live for one evaluation. Only one of
// the two runs at a time: the kernel stops the other. A call writes a fresh input into memory that is shared with the
// process, lets the process run, waits for its message, and stops it. The time is the process's own between the two
// stops, by the kernel's account. Then, while the process is stopped, its output is compared with the baseline's for
// the same input. Only the memory of the stopped process counts, not its messages.
//
// A Build turns a program into an image to run: [Python] does for functions of NumPy arrays, and task/gofunc has one
// for Go. docs/measurements/2026-11-23-timing.md lists the attacks that were tried. The package needs Linux.
package timing
