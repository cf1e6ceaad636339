package population

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
)

// guard calls f and returns what it panics with as an error that names the part. The stack is taken here, while it
// still shows where.
func guard(what string, f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &evolve.PanicError{What: what, Value: v, Stack: debug.Stack()}
		}
	}()
	f()
	return nil
}

// named returns what a part is and how it prints.
func named(what string, part any) string { return what + " " + nameOf(part) }

// nameOf returns what a part's String method returns. Of a part without one it returns the operator's name, or else the
// type. It never prints fields, because they may hold addresses, which differ in every process.
func nameOf(part any) string {
	switch p := part.(type) {
	case fmt.Stringer:
		return p.String()
	case Operator:
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

func allOf(n int) []bool {
	open := make([]bool, n)
	for i := range open {
		open[i] = true
	}
	return open
}

func gateError(g Gate, err error) error { return fmt.Errorf("population: Gate %s: %w", nameOf(g), err) }
