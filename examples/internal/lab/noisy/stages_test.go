package noisy

import (
	"strings"
	"testing"
)

// What a stage returns does not depend on its number, or a wrong program could be a fast one.
func TestStagesReturnTheSame(t *testing.T) {
	w := newWork()
	for _, s := range stages() {
		want := s.run(w, s.initial)
		for _, v := range []float64{s.low, 1.5, 3, 7, 10, 16, 37, 64, 200, 1000, 40001, s.up} {
			if v < s.low || v > s.up {
				continue
			}
			if got := s.run(w, v); got != want {
				t.Errorf("%s at %v: %d, want %d", s.name, v, got, want)
			}
		}
	}
}

func TestTimedProgramsAreChecked(t *testing.T) {
	initial := initialProgram()
	watch := newStopwatch()
	for _, c := range []struct {
		program string
		valid   bool
		why     string
	}{
		{initial, true, "the initial program"},
		{strings.TrimSpace(initial), true, "models leave out the last line end"},
		{"", false, "no lines"},
		{initial + "more = 1\n", false, "a line too many"},
		{strings.Replace(initial, "digit_bits = 1", "digit_bits = 17", 1), false,
			"above the range, for which there is no room"},
		{strings.Replace(initial, "digit_bits = 1", "digit_bits = NaN", 1), false, "not a number"},
		{strings.Replace(initial, "segment", "segments", 1), false, "another name"},
	} {
		if r, err := watch.Evaluate(t.Context(), c.program); err != nil || r.Valid != c.valid {
			t.Errorf("%s: %+v, %v", c.why, r, err)
		}
	}
}
