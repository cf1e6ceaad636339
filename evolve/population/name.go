package population

import (
	"fmt"
	"strings"
)

// named returns what a part is and how it prints.
func named(what string, part any) string { return what + " " + nameOf(part) }

// nameOf returns what a part's String method returns. Of a part without one it returns the operator's name, or else the
// type. It never prints fields, because they may hold addresses, which differ in every process.
func nameOf(part any) string {
	switch p := part.(type) {
	case fmt.Stringer:
		return p.String()
	case interface{ Name() string }:
		return p.Name()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", part), "*")
}

// firstOf calls each until one returns an error.
func firstOf(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
