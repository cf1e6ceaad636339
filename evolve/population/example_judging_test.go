package population_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// A gate of one's own refuses programs before their evaluation is paid for.
func ExampleGateFunc() {
	short := population.GateFunc(func(_ context.Context, _ *population.View, program string) (string, error) {
		if n := len(strings.Fields(program)); n > 6 {
			return fmt.Sprintf("it has %d numbers, and may have 6", n), nil
		}
		return "", nil
	})
	res := search(population.Config{N: 4, Gates: []population.Gate{short}}, 40)
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			if c.Err != "" && g.Index == 10 {
				fmt.Println(c.Err)
			}
		}
	}
	fmt.Println("best", res.Best.Program)
	// Output:
	// refused by population.GateFunc: it has 7 numbers, and may have 6
	// refused by population.GateFunc: it has 7 numbers, and may have 6
	// refused by population.GateFunc: it has 7 numbers, and may have 6
	// refused by population.GateFunc: it has 7 numbers, and may have 6
	// best 1 2 3 9 9 8
}

// taboo is a memory of one's own, without a model: it names the numbers with which children came out worse.
type taboo struct{ words map[string]bool }

func (m *taboo) Section(*population.View) task.Section {
	if len(m.words) == 0 {
		return task.Section{}
	}
	return task.Notes(fmt.Sprintf("%d endings have not paid", len(m.words)))
}

func (m *taboo) Learn(_ context.Context, s *population.Season) error {
	for _, b := range s.Births {
		if words := strings.Fields(b.Program); len(words) > 0 && !b.Improved() {
			m.words[words[len(words)-1]] = true
		}
	}
	return nil
}

func ExampleMemory() {
	m := &taboo{words: map[string]bool{}}
	search(population.Config{N: 4, Memory: []population.Memory{m}}, 40)
	fmt.Println(m.Section(nil).Lines)
	// Output:
	// [2 endings have not paid]
}

// A Birth is a child with the parent that it was made of.
func ExampleBirth() {
	b := population.Birth{Child: evolve.Child{Candidate: member(2, "1 2 3 9", 15).Candidate},
		Parent: member(1, "1 2 3", 6)}
	fmt.Println(b.Improved(), b.Result.Score-b.Parent.Result.Score)
	// Output: true 9
}
