package bandit

import "fmt"

// nameOf returns p as it prints itself, or else its type. It does not print the fields of such a p: they may
// print otherwise in every process and after every draw, and a journal recognizes a run by how its policy
// prints.
func nameOf(p Policy) string {
	if s, ok := p.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", p)
}
