package presets

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// An agent of a record has a score and a parent.
type dgmAgent struct {
	score  float64
	parent int
}

func (a *dgmAgent) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&a.score, &a.parent})
}

// From the same archive the same parents are drawn as often as by the Darwin Gödel Machine.
func TestDGMParity(t *testing.T) {
	var record struct {
		Draws int `json:"draws"`
		Plays []struct {
			Programs []dgmAgent     `json:"programs"`
			Drawn    map[string]int `json:"drawn"`
		} `json:"plays"`
	}
	recorded(t, "dgm", &record)
	for i, play := range record.Plays {
		cfg := DGM(population.Config{})
		for id, p := range play.Programs {
			m := population.Member{ID: id}
			if m.Result = (eval.Result{Valid: true, Score: p.score}); id > 0 {
				m.Parents = []int{p.parent}
			}
			cfg.Archive.Add(m)
		}
		drawn := map[string]int{}
		r := stream.New(1, "dgm", uint64(i))
		members := cfg.Archive.Members()
		for range record.Draws {
			drawn[strconv.Itoa(members[cfg.Select.Select(members, r)].ID)]++
		}
		alike(t, fmt.Sprintf("play %d", i), play.Drawn, drawn)
	}
}
