package presets

import (
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// child is a member that was born as the id-th.
func child(id int, r eval.Result) population.Member {
	return population.NewMember(evolve.Child{Candidate: eval.Candidate{Program: fmt.Sprint(id), Result: r}, ID: id}, 0)
}

// A program that is scored again is replaced where it stands, and comes to no other island.
func TestOpenEvolveScoredAgain(t *testing.T) {
	of := OpenEvolve(population.Config{}).Archive.(*population.Islands).Of
	first, second := of[0].(*island), of[1].(*island)
	first.Add(child(1, eval.Result{Valid: true, Score: 1}))
	for _, i := range []*island{first, second} { // an empty island's members are the first one's
		i.Add(child(1, eval.Result{Valid: true, Score: 0.5}))
	}
	if len(second.list) != 0 || len(first.list) != 1 || first.list[0].Result.Score != 0.5 {
		t.Errorf("the islands have %d and %d programs", len(first.list), len(second.list))
	}
	if second.Add(child(2, eval.Result{Valid: true})); len(second.list) != 1 {
		t.Error("an empty island refuses a newcomer")
	}
}

// Diversities of programs are forgotten, oldest first, and a member that may not be chosen from gives way to another.
func TestWhatIsKeptIsBounded(t *testing.T) {
	d := OpenEvolve(population.Config{}).Archive.(*population.Islands).Of[0].(*island).database
	for i := range 3 * mostSpreads {
		d.spread(fmt.Sprint(i))
	}
	if _, newest := d.spreads[fmt.Sprint(3*mostSpreads-1)]; len(d.spreads) != mostSpreads || !newest {
		t.Errorf("%d diversities are kept, want %d", len(d.spreads), mostSpreads)
	}
	valid := []population.Member{child(1, eval.Result{Valid: true})}
	if at := the(child(2, eval.Invalid("demoted"))).Select(valid, nil); at != 0 {
		t.Errorf("the first to choose from has index %d", at)
	}
}

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
