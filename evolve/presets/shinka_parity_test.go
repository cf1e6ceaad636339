package presets

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A shinkaProgram is a program of a record.
type shinkaProgram struct {
	score            float64
	children, island int
	archived         bool
}

func (p *shinkaProgram) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&p.score, &p.children, &p.island, &p.archived})
}

// From the same archive the same parents are drawn as often, with the same programs beside them.
func TestShinkaParity(t *testing.T) {
	var record struct {
		Draws int `json:"draws"`
		Plays []struct {
			Programs []shinkaProgram `json:"programs"`
			Drawn    []struct {
				Island  int            `json:"island"`
				Parents map[string]int `json:"parents"`
				Shown   map[string]int `json:"shown"`
			} `json:"drawn"`
		} `json:"plays"`
	}
	recorded(t, "shinka", &record)
	for i, play := range record.Plays {
		shores := archiveOf(play.Programs)
		for _, draw := range play.Drawn {
			parents, shown := map[string]int{}, map[string]int{}
			what := fmt.Sprintf("play %d, island %d", i, draw.Island)
			r := stream.New(1, what, 0)
			for range record.Draws {
				members := shores[draw.Island].Members()
				parent := members[population.Weighted(10).Select(members, r)]
				parents[strconv.Itoa(parent.ID)]++
				var list []string
				for _, m := range shores[draw.Island].context(parent, r) {
					list = append(list, strconv.Itoa(m.ID))
				}
				shown[fmt.Sprint(parent.ID, ": ", strings.Join(list, " "))]++
			}
			alike(t, what+": parents", draw.Parents, parents)
			alike(t, what+": shown", draw.Shown, shown)
		}
	}
}

// archiveOf returns an archive with these programs.
func archiveOf(programs []shinkaProgram) []*shore {
	shores := newElites(40, 2)
	for i, p := range programs {
		c := evolve.Child{ID: i}
		c.Result = eval.Result{Valid: true, Score: p.score}
		m := population.NewMember(c, p.children)
		s := shores[p.island]
		s.Add(m)
		if !p.archived {
			s.list = s.list[:len(s.list)-1]
		}
	}
	return shores
}

// The worst of all islands leaves for a newcomer that is better, and for no other.
func TestElites(t *testing.T) {
	shores := newElites(3, 2)
	add := func(id, island int, score float64) bool {
		m := population.Member{ID: id}
		m.Result = eval.Result{Valid: true, Score: score}
		return shores[island].Add(m)
	}
	for i, tt := range []struct {
		island int
		score  float64
		kept   bool
		sizes  [2]int
		reason string
	}{
		{0, 1, true, [2]int{1, 0}, "there is room"},
		{0, 2, true, [2]int{2, 0}, "there is room"},
		{1, 3, true, [2]int{2, 1}, "there is room"},
		{1, 1, false, [2]int{2, 1}, "it is no better than the worst"},
		{1, 1.5, true, [2]int{1, 2}, "it is better than the worst, which is on the other island"},
	} {
		kept := add(i, tt.island, tt.score)
		var sizes [2]int
		for _, k := range shores[0].list {
			sizes[k.island]++
		}
		if kept != tt.kept || sizes != tt.sizes {
			t.Errorf("%s: kept %v, on the islands %v, want %v, %v", tt.reason, kept, sizes, tt.kept, tt.sizes)
		}
	}
}
