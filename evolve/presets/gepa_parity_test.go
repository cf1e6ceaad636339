package presets

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// Of programs with the same scores by case the same are needed, and drawn as often; and merges are judged on the same
// cases.
func TestGEPAParity(t *testing.T) {
	var record struct {
		Draws int `json:"draws"`
		Plays []struct {
			Cases  [][]float64    `json:"cases"`
			Needed []int          `json:"needed"`
			Drawn  map[string]int `json:"drawn"`
		} `json:"plays"`
		Judged []struct {
			First  []float64      `json:"first"`
			Second []float64      `json:"second"`
			Drawn  map[string]int `json:"drawn"`
		} `json:"judged"`
	}
	recorded(t, "gepa", &record)
	for i, play := range record.Plays[:notrun.Length(3, len(record.Plays))] {
		members := membersOf(play.Cases)
		needed := []int{}
		kept, _ := population.Needed(members)
		needed = append(needed, kept...)
		if slices.Sort(needed); !slices.Equal(needed, play.Needed) {
			t.Errorf("play %d: needed are %v, want %v", i, needed, play.Needed)
		}
		drawn := map[string]int{}
		r := stream.New(1, "gepa", uint64(i))
		for range record.Draws {
			drawn[strconv.Itoa(population.Fronts().Select(members, r))]++
		}
		alike(t, fmt.Sprintf("play %d", i), play.Drawn, drawn)
	}
	for i, judge := range record.Judged {
		drawn := map[string]int{}
		r := stream.New(2, "gepa", uint64(i))
		for range record.Draws {
			for _, c := range judged(judge.First, judge.Second, r) {
				drawn[strconv.Itoa(c)]++
			}
		}
		alike(t, fmt.Sprintf("judged %d", i), judge.Drawn, drawn)
	}
}

// membersOf returns programs with these scores by case, which score their mean.
func membersOf(cases [][]float64) (members []population.Member) {
	for i, scores := range cases {
		m := population.Member{ID: i}
		m.Result = eval.Result{Valid: true, Cases: scores}
		for _, s := range scores {
			m.Result.Score += s / float64(len(scores))
		}
		members = append(members, m)
	}
	return members
}

// A pool merges once after each program that was accepted, and no more when five merges were. A merge that is worse
// than a parent is not accepted.
func TestGEPAMergesAfterAFind(t *testing.T) {
	p := &pool{}
	all := membersOf([][]float64{{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {0, 0, 1, 1, 0}})
	for _, m := range all {
		if !p.Add(m) {
			t.Errorf("program %d is not kept", m.ID)
		}
	}
	if p.due != 2 || !p.found {
		t.Errorf("after two programs %d merges are due, want 2", p.due)
	}
	merge := func(id int, cases ...float64) bool {
		m := membersOf([][]float64{cases})[0]
		m.ID, m.Operator, m.Parents = id, "merge", []int{1, 2}
		return p.Add(m)
	}
	if merge(3, 1, 0, 0, 0, 0) || p.due != 2 {
		t.Errorf("a merge that is worse than both is kept, or counted")
	}
	for i := range 5 {
		if !merge(4+i, 1, 1, 1, 1, 0) {
			t.Errorf("merge %d is not kept", i)
		}
	}
	due := p.due
	p.Add(membersOf([][]float64{{0}, {0, 0, 0, 0, 1}})[1])
	if p.done != 5 || p.due != due {
		t.Errorf("after %d merges another is due", p.done)
	}
	p.found, p.due, p.list = true, 1, p.list[:1] // nobody to merge
	o := &merges{pool: p}
	if v := (&population.View{Rand: stream.New(1, "", 0)}); o.Able(v) || p.found {
		t.Error("a try without a pair is not the last one until another program is accepted")
	}
	p.list = all
	if v := (&population.View{Rand: stream.New(1, "", 0)}); o.Able(v) {
		t.Error("a merge is made though no program was accepted since the last try")
	}
}
