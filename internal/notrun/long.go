package notrun

import (
	"fmt"
	"testing"
)

// Long skips a test that takes long, unless [Soak] is true. It says in short what runs in its place.
func Long(t testing.TB, short string) {
	t.Helper()
	if !Soak {
		t.Skipf("run with -tags soak; without it there is %s", short)
	}
}

// Few returns the elements of all at the given positions, which cover each mechanism once, or all if [Soak] is true.
func Few[T any](all []T, at ...int) []T {
	if Soak {
		return all
	}
	few := make([]T, len(at))
	for i, position := range at {
		few[i] = all[position]
	}
	return few
}

// FewOf returns the entries of all with the given keys, which stand for the others, or all if [Soak] is true.
func FewOf[K comparable, V any](all map[K]V, keys ...K) map[K]V {
	if Soak {
		return all
	}
	few := map[K]V{}
	for _, k := range keys {
		v, found := all[k]
		if !found {
			panic(fmt.Sprintf("notrun: no %v", k))
		}
		few[k] = v
	}
	return few
}

// Length returns normal, or soak if [Soak] is true.
func Length[T any](normal, soak T) T {
	if Soak {
		return soak
	}
	return normal
}

// SayLong says in one line that tests did not run at full length, and how to run them so. It is for one TestMain of
// the module.
func SayLong() {
	if !Soak {
		say("not run: the full length of tests that take minutes, such as a kill after every record; to run it: go test " +
			"-tags soak ./...")
	}
}
