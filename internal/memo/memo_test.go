package memo

import (
	"errors"
	"fmt"
	"testing"
)

func key(i int) (k Key) {
	copy(k[:], fmt.Sprint(i))
	return k
}

// However much is computed, no more is held than fits, and it is the oldest that is forgotten.
func TestTableIsBounded(t *testing.T) {
	table := New(1000, func(v int) int { return 100 })
	computed := 0
	ask := func(i int) {
		if v, err := table.Do(t.Context(), key(i), func() (int, error) { computed++; return i, nil }); v != i || err != nil {
			t.Fatalf("key %d gave %d, %v", i, v, err)
		}
	}
	for i := range 25 {
		ask(i)
	}
	if len(table.values) != 10 || table.room != 0 || len(table.order) != 10 {
		t.Errorf("%d values in order %d with room for %d more bytes, want the 10 that fit", len(table.values),
			len(table.order), table.room)
	}
	for i := 15; i < 25; i++ {
		ask(i)
	}
	if computed != 25 {
		t.Errorf("%d computations: one of the 10 youngest was forgotten", computed)
	}
	if ask(14); computed != 26 {
		t.Error("the oldest was remembered beyond the room")
	}
}

// With Keep something of every value stays, and nothing is computed twice.
func TestKeep(t *testing.T) {
	table := New(1000, func(int) int { return 100 })
	table.Keep = func(v int) int { return -v }
	computed := 0
	for round := range 2 {
		for i := 1; i <= 25; i++ {
			want := i
			if round == 1 && i <= 15 {
				want = -i
			}
			if v, err := table.Do(t.Context(), key(i), func() (int, error) { computed++; return i, nil }); v != want ||
				err != nil {
				t.Errorf("round %d: key %d gave %d, %v, want %d", round, i, v, err, want)
			}
		}
	}
	if computed != 25 || len(table.values) != 25 || len(table.order) != 10 {
		t.Errorf("%d computations, %d values, %d of them whole, want 25, 25 and 10", computed, len(table.values),
			len(table.order))
	}
}

func TestErrorsAreNotRemembered(t *testing.T) {
	table := New(1000, func(int) int { return 1 })
	broken := errors.New("broken")
	if _, err := table.Do(t.Context(), key(1), func() (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if v, err := table.Do(t.Context(), key(1), func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v, want the second computation", v, err)
	}
}
