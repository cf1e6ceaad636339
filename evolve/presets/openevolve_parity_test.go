package presets

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A scored program of a record is a text and a score.
type scored struct {
	text  string
	score float64
}

func (s *scored) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&s.text, &s.score}) }

// openEvolveState is what a database holds. Programs are numbered in the order in which they were added; 7>2 is the
// copy of 7 that migrated to island 2.
type openEvolveState struct {
	After   int        `json:"after"`
	Islands [][]string `json:"islands"`
	Cells   [][]string `json:"cells"`
	Best    []string   `json:"best"`
	Elite   []string   `json:"elite"`
}

type openEvolvePlay struct {
	Name  string `json:"name"`
	Sizes struct {
		Most    int `json:"population_size"`
		Elite   int `json:"archive_size"`
		Islands int `json:"num_islands"`
		Every   int `json:"migration_interval"`
	} `json:"sizes"`
	Programs []scored          `json:"programs"`
	States   []openEvolveState `json:"states"`
	Draws    []openEvolveDraw  `json:"draws"`
}

type openEvolveDraw struct {
	After        int            `json:"after"`
	Island       int            `json:"island"`
	Parents      map[string]int `json:"parents"`
	Inspirations map[string]int `json:"inspirations"`
}

// name returns the number of a resident, and the island of a copy.
func (r *resident) name() string {
	if r.migrant {
		return fmt.Sprintf("%d>%d", r.ID, r.island)
	}
	return fmt.Sprint(r.ID)
}

func names(list []*resident) []string {
	of := []string{}
	for _, r := range list {
		of = append(of, r.name())
	}
	slices.Sort(of)
	return of
}

// state returns what the database holds.
func (d *database) state(after int) openEvolveState {
	s := openEvolveState{After: after, Elite: names(d.elite)}
	for _, l := range d.islands {
		cells := []string{}
		for at, r := range l.cell {
			cells = append(cells, at.String()+": "+r.name())
		}
		slices.Sort(cells)
		best := ""
		if len(l.list) > 0 {
			best = l.list.top(1)[0].name()
		}
		s.Islands, s.Cells, s.Best = append(s.Islands, names(l.list)), append(s.Cells, cells), append(s.Best, best)
	}
	return s
}

// Given the same programs, the database holds what OpenEvolve's does, and samples as it does.
func TestOpenEvolveParity(t *testing.T) {
	var record struct {
		Draws int              `json:"draws"`
		Plays []openEvolvePlay `json:"plays"`
	}
	recorded(t, "openevolve", &record)
	for _, play := range record.Plays {
		d := OpenEvolve(population.Config{}).Archive.(*population.Islands).Of[0].(*island).database
		if s := play.Sizes; s.Islands > 0 {
			d = newDatabase(s.Islands, sizes{s.Most, s.Elite, s.Every})
		}
		for i, p := range play.Programs {
			m := population.Member{ID: i}
			m.Program, m.Result = p.text, eval.Result{Valid: true, Score: p.score}
			d.islands[max(0, i-1)%len(d.islands)].Add(m)
			for _, want := range play.States {
				if want.After != i {
					continue
				}
				if diff := cmp.Diff(want, d.state(i)); diff != "" {
					t.Fatalf("%s, after %d programs (-theirs +ours):\n%s", play.Name, i, diff)
				}
			}
			for _, draw := range play.Draws {
				if draw.After == i {
					what := fmt.Sprintf("%s, island %d after %d", play.Name, draw.Island, i)
					d.islands[draw.Island].drawn(t, what, draw, record.Draws)
				}
			}
		}
	}
}

// drawn compares what is sampled for the island.
func (l *island) drawn(t *testing.T, what string, theirs openEvolveDraw, n int) {
	t.Helper()
	parents, inspirations := map[string]int{}, map[string]int{}
	r := stream.New(1, what, 0)
	for range n {
		parent, _, shown := l.sample(r)
		parents[parent.name()]++
		var list []string
		for _, m := range shown {
			list = append(list, m.name())
		}
		inspirations[strings.Join(list, " ")]++
	}
	alike(t, what+": parents", theirs.Parents, parents)
	alike(t, what+": inspirations", theirs.Inspirations, inspirations)
}
