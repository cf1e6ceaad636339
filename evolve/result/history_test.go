package result_test

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/result"
)

// What is no result, or lacks what its rounds made, is refused before or after it is read.
func TestHistoryRefuses(t *testing.T) {
	for _, text := range []string{"x", "", "[]", "{}", `{"arm_results": []}`,
		`{"selections": [1], "arm_results": [{"trajectory": [{"best_fitness": 1}]}]}`,
		`{"selections": [0], "arm_results": [{"trajectory": [{"best_fitness": 1}]}]}`,
		`{"selections": [65536], "arm_results": [{"trajectory": [{}, {}]}` +
			strings.Repeat(`, {"trajectory": [{}, {}]}`, 65536) + `]}`} {
		f, err := result.Read(strings.NewReader(text))
		if err == nil {
			_, err = f.History()
		}
		if err == nil {
			t.Errorf("no error of %.60s", text)
		}
	}
}
