package presets

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// A journal knows a run by how its search prints itself, so no address may be in it.
func TestNamesAreTheSame(t *testing.T) {
	circles, err := geometry.CirclePacking().Task(nil, "javascript")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Presets {
		s, err := p.New(population.Config{Task: circles, LLM: llm.Func(nil), N: 4})
		if err != nil {
			t.Fatal(err)
		}
		if name := fmt.Sprint(s); regexp.MustCompile(`0x|[{}]`).MatchString(name) {
			t.Errorf("%s prints itself as %s", p.Name, name)
		}
	}
}
