package bandit

import "fmt"

// nameOf is p as it prints itself, or else its type: what it holds may print otherwise in every process and
// after every draw, and a journal knows a run by how its policy prints.
func nameOf(p Policy) string {
	if s, ok := p.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", p)
}
