package mutate

import (
	"slices"
	"strings"
)

// Splice returns program with lines of donor in it: up to half of the donor's lines, which follow each other, take the
// place of as many of program's. Names in them may mean nothing in their new place.
func Splice(program, donor string, d Draw) string {
	a, b := strings.Split(program, "\n"), strings.Split(donor, "\n")
	n := min(1+d.IntN(max(1, len(b)/2)), len(a))
	i, j := d.IntN(len(a)-n+1), d.IntN(len(b)-n+1)
	return strings.Join(slices.Concat(a[:i], b[j:j+n], a[i+n:]), "\n")
}

// Swap returns program with two lines of one indentation exchanged, which mostly are statements. It reports false if
// there are no two that differ.
func Swap(program string, d Draw) (string, bool) {
	lines := strings.Split(program, "\n")
	for _, i := range d.Perm(len(lines)) {
		for _, j := range d.Perm(len(lines)) {
			if lines[i] != lines[j] && indent(lines[i]) == indent(lines[j]) && indent(lines[i]) < min(len(lines[i]), len(lines[j])) {
				lines[i], lines[j] = lines[j], lines[i]
				return strings.Join(lines, "\n"), true
			}
		}
	}
	return program, false
}

// indent returns how many bytes of white space a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
