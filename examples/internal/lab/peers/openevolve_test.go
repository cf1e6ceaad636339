package peers_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/lab/peers"
	"github.com/evoalloc/evoalloc/task"
)

// A program's features are its length and its distance from the initial program, also of one with very many characters, for
// which a look at the whole text for each of them would take minutes.
func TestOpenEvolveFeatures(t *testing.T) {
	initial, err := task.New(task.Spec{Name: "x", Language: "python", Initial: "abc\n", Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	islands := peers.OpenEvolve(peers.Setting{Task: initial}).Archive.(*population.Islands)
	features := islands.Of[0].(*population.Grid).Features
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
		{string(many), 0.1*(4<<18-4) + 10 + 0.5*(1<<18+4), "a megabyte of different characters"},
	} {
		f := features(eval.Candidate{Program: tt.program})
		if f[0] != float64(len(tt.program)) || f[1] != tt.distance {
			t.Errorf("%s: features %v, want %d and %v", tt.reason, f, len(tt.program), tt.distance)
		}
	}
}
