package presets

import "testing"

// The distance of programs is in characters, also of those with very many, for which a look at the whole text for each
// of them would take minutes.
func TestOpenEvolveDistance(t *testing.T) {
	var many []rune
	for r := rune(0x10000); r < 0x10000+1<<18; r++ {
		many = append(many, r)
	}
	for _, tt := range []struct {
		program  string
		distance float64
		reason   string
	}{
		{"abc\n", 0, "the program itself"},
		{"abd\n", 0.5 * 2, "one character for another"},
		{"abca\n\n", 0.1*2 + 10, "longer by two and by a line"},
		{string(many), 0.1*(1<<18-4) + 10 + 0.5*(1<<18+4), "a megabyte of different characters"},
	} {
		if d := figureOf("abc\n").distance(figureOf(tt.program)); d != tt.distance {
			t.Errorf("%s: distance %v, want %v", tt.reason, d, tt.distance)
		}
	}
}
