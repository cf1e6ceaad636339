// Package timing scores a program by how fast it is beside a baseline, where the program can reach neither the clock
// nor the check.
//
// A [Machine] keeps one candidate and the baseline in two contained processes that live for one evaluation. Only one
// of the two can run at a time: the other is stopped by the kernel. A call writes a fresh input into memory that is
// shared with the process, lets it go on, waits for its word, and stops it. The time is what the kernel says the
// process used between the two stops. Then, while it stands still, its output is compared with the baseline's for
// the same input. What the process says counts for nothing: only what is in its memory when it is stopped does.
//
// A Build makes a program into what is run: [Python] for functions of NumPy arrays, and that of task/gofunc for Go.
// docs/measurements/2026-11-23-timing.md has the attacks that were tried. It needs Linux.
package timing
