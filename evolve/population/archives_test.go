package population_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
)

func TestTop(t *testing.T) {
	for _, tt := range []struct {
		reason string
		add    []*population.Member
		want   []int
		kept   []bool
	}{
		{"best first", []*population.Member{member(0, "", 1), member(1, "", 3), member(2, "", 2)}, []int{1, 2, 0},
			[]bool{true, true, true}},
		{"a better one replaces the worst", []*population.Member{member(0, "", 1), member(1, "", 2), member(2, "", 3),
			member(3, "", 4)}, []int{3, 2, 1}, []bool{true, true, true, true}},
		{"a tie with the worst does not", []*population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 1),
			member(3, "", 1)}, []int{0, 1, 2}, []bool{true, true, true, false}},
		{"of equals the one that came first is first, and stays",
			[]*population.Member{member(5, "", 1), member(3, "", 1), member(4, "", 1), member(1, "", 2)}, []int{1, 5, 3},
			[]bool{true, true, true, true}},
		{"a valid one replaces an invalid one at any score",
			[]*population.Member{invalid(0, ""), member(1, "", -9), member(2, "", -8), member(3, "", -7)}, []int{3, 2, 1},
			[]bool{true, true, true, true}},
	} {
		a := population.Top(3)
		for i, m := range tt.add {
			if kept := a.Add(m); kept != tt.kept[i] {
				t.Errorf("%s: member %d kept: %v", tt.reason, m.ID, kept)
			}
		}
		if got := ids(a.Members()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

func TestDrift(t *testing.T) {
	for _, tt := range []struct {
		reason string
		add    []*population.Member
		want   int
	}{
		{"a better one is kept", []*population.Member{member(0, "", 1), member(1, "", 2)}, 1},
		{"of equals the last", []*population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 1)}, 2},
		{"a worse one is not", []*population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 0)}, 1},
		{"a valid one replaces an invalid one at any score", []*population.Member{invalid(0, ""), member(1, "", -9)}, 1},
	} {
		a := population.Drift()
		for i, m := range tt.add {
			if kept := a.Add(m); kept != (ids(a.Members())[0] == m.ID) {
				t.Errorf("%s: member %d kept: %v", tt.reason, i, kept)
			}
		}
		if got := ids(a.Members()); !slices.Equal(got, []int{tt.want}) {
			t.Errorf("%s: %v, want %d alone", tt.reason, got, tt.want)
		}
	}
}

func TestAll(t *testing.T) {
	for _, tt := range []struct {
		reason string
		most   int
		scores []float64
		want   []int
	}{
		{"all stay, best first", 0, []float64{1, 3, 2}, []int{1, 2, 0}},
		{"the oldest leaves", 3, []float64{1, 2, 3, 4, 0}, []int{3, 2, 4}},
		{"but not the best one", 3, []float64{9, 2, 3, 4, 5}, []int{0, 4, 3}},
		{"which leaves when it is not the best any more", 3, []float64{9, 2, 3, 4, 10}, []int{4, 3, 2}},
		{"nor of two equal best ones the older", 2, []float64{9, 9, 1, 2}, []int{0, 3}},
		{"one alone is greedy search's", 1, []float64{2, 1, 3, 3}, []int{2}},
	} {
		a := population.All(tt.most)
		for i, s := range tt.scores {
			a.Add(member(i, "", s))
		}
		if got := ids(a.Members()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Whatever is added, every archive holds what it says, in an order that does not depend on a map, and its best member
// is the best that it could hold.
func TestArchivesHoldWhatTheySay(t *testing.T) {
	for name, archive := range map[string]func() population.Archive{
		"Top":    func() population.Archive { return population.Top(7) },
		"All":    func() population.Archive { return population.All(0) },
		"All(9)": func() population.Archive { return population.All(9) },
		"Grid": func() population.Archive {
			return &population.Grid{Cell: func(c eval.Candidate) string { return c.Program[:1] }}
		},
		"Bins": func() population.Archive {
			return &population.Grid{Bins: 3,
				Features: func(c eval.Candidate) []float64 { return []float64{float64(c.Program[0])} }}
		},
		"Fronts": func() population.Archive { return population.Fronts() },
		"Islands": func() population.Archive {
			return &population.Islands{Of: []population.Archive{population.Top(3), population.All(0)}, Every: 3, Rate: 0.5}
		},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		a, again := archive(), archive()
		best := member(0, "a b c d e f", -1)
		a.Add(best)
		again.Add(member(0, "a b c d e f", -1))
		for id := 1; id < 300; id++ {
			program := string(rune('a'+r.IntN(9))) + fmt.Sprintf(" %d b c %d", r.IntN(9), r.IntN(9))
			score := float64(r.IntN(40))
			cases := []float64{float64(r.IntN(5)), float64(r.IntN(5)), score}
			m, twin := member(id, program, score), member(id, program, score)
			m.Result.Cases, twin.Result.Cases = cases, cases
			if m.Better(best.Candidate) {
				best = m
			}
			add(a, id, m)
			add(again, id, twin)
		}
		members := a.Members()
		if top := (population.Best()).Select(members, nil); top.Result.Score != best.Result.Score {
			t.Errorf("%s: its best has %v, and %v was offered", name, top.Result.Score, best.Result.Score)
		}
		if diff := cmp.Diff(ids(members), ids(again.Members())); diff != "" {
			t.Errorf("%s: the same members in another order:\n%s", name, diff)
		}
		seen := map[int]bool{}
		for _, m := range members {
			if seen[m.ID] {
				t.Errorf("%s: member %d stands twice", name, m.ID)
			}
			seen[m.ID] = true
		}
	}
}

// add adds m to one island or the other, or to an archive without islands.
func add(a population.Archive, i int, m *population.Member) {
	if p, ok := a.(*population.Islands); ok {
		p.AddTo(i%2, m)
		return
	}
	a.Add(m)
}

// The cells of a grid are the quantiles of all that was offered, however the features came: at the end there are
// members in every bin, though the first ones all stood in what is the lowest bin now.
func TestGridRebins(t *testing.T) {
	g := &population.Grid{Bins: 4, Features: func(c eval.Candidate) []float64 { return []float64{c.Result.Metrics["x"]} }}
	for i := range 1024 {
		m := member(i, "", float64(i%7))
		m.Result.Metrics = map[string]float64{"x": float64(i)}
		g.Add(m)
	}
	var bins []int
	for _, m := range g.Members() {
		bins = append(bins, m.ID/256)
	}
	slices.Sort(bins)
	if diff := cmp.Diff([]int{0, 1, 2, 3}, bins); diff != "" {
		t.Errorf("members by quarter of the features: %v", bins)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		m := member(2000, "", 99)
		m.Result.Metrics = map[string]float64{"x": x}
		if g.Add(m) {
			t.Errorf("a candidate with the feature %v is kept", x)
		}
	}
}

// Features that most candidates share are in one bin, so that equal programs do not take several cells.
func TestGridOfOneValue(t *testing.T) {
	g := &population.Grid{Features: func(c eval.Candidate) []float64 { return []float64{7} }}
	for i := range 100 {
		g.Add(member(i, "", float64(i%50)))
	}
	if got := ids(g.Members()); !slices.Equal(got, []int{49}) {
		t.Errorf("%v, want the first of score 49", got)
	}
}

func TestFronts(t *testing.T) {
	for _, tt := range []struct {
		reason string
		cases  [][]float64
		want   []int // by ID
	}{
		{"one that is the best at a case stays, however low its sum", [][]float64{{5, 5, 0}, {0, 0, 1}}, []int{0, 1}},
		{"dominated everywhere, it leaves", [][]float64{{1, 1}, {2, 2}}, []int{1}},
		{"its fronts keep another each, so the one with the lowest sum leaves",
			[][]float64{{1, 0, 0, 2}, {0, 1, 0, 3}, {1, 1, 0, 0}}, []int{1, 0}},
		{"of two that are equal everywhere the older stays", [][]float64{{1, 2}, {1, 2}}, []int{0}},
		{"a case that it does not have, it is the worst at", [][]float64{{1}, {0, -5}}, []int{0, 1}},
		{"without cases the score is the one case", [][]float64{nil, nil}, []int{0}},
	} {
		f := population.Fronts()
		for i, c := range tt.cases {
			sum := 0.0
			for _, x := range c {
				sum += x
			}
			m := member(i, "", sum)
			m.Result.Cases = c
			f.Add(m)
		}
		got := ids(f.Members())
		slices.Sort(got)
		want := slices.Sorted(slices.Values(tt.want))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, want)
		}
	}
}

// No front is ever lost: the best score at each case is held by somebody, and nobody could be left out.
func TestFrontsAreNeeded(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := population.Fronts()
		best := make([]float64, 6)
		for id := range 60 {
			m := member(id, "", 0)
			m.Result.Cases = make([]float64, len(best))
			for c := range best {
				m.Result.Cases[c] = float64(r.IntN(4))
				m.Result.Score += m.Result.Cases[c]
				best[c] = max(best[c], m.Result.Cases[c])
			}
			f.Add(m)
			holds := func(but int) bool {
				for c := range best {
					if !slices.ContainsFunc(f.Members(), func(m *population.Member) bool {
						return m.ID != but && m.Result.Cases[c] == best[c]
					}) {
						return false
					}
				}
				return true
			}
			if !holds(-1) {
				t.Fatalf("seed %d: after member %d a front is empty", seed, id)
			}
			for _, m := range f.Members() {
				if holds(m.ID) {
					t.Fatalf("seed %d: member %d is not needed", seed, m.ID)
				}
			}
		}
	}
}

func TestIslands(t *testing.T) {
	for _, tt := range []struct {
		reason string
		every  int
		want   [][]int
	}{
		{"nobody migrates", 0, [][]int{{1, 4, 0}, {2, 0}, {3, 0}}},
		{"the best of each goes to the next, and no further", 2, [][]int{{3, 1, 4, 0}, {2, 1, 0}, {3, 2, 0}}},
	} {
		s := &population.Islands{Of: []population.Archive{population.Top(9), population.Top(9), population.Top(9)},
			Every: tt.every}
		s.Add(member(0, "start", -1))
		for i := range 3 {
			s.AddTo(i, member(i+1, "", float64(i+1)))
		}
		s.AddTo(0, member(4, "", 0.5))
		for i, part := range s.Of {
			if got := ids(part.Members()); !slices.Equal(got, tt.want[i]) {
				t.Errorf("%s: island %d has %v, want %v", tt.reason, i, got, tt.want[i])
			}
		}
		all := ids(s.Members())
		slices.Sort(all)
		if !slices.Equal(all, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%s: all members are %v", tt.reason, all)
		}
	}
}

// A copy has counters of its own: what it is asked on one island does not weigh against it on another.
func TestMigrantsAreCopies(t *testing.T) {
	s := &population.Islands{Of: []population.Archive{population.Top(2), population.Top(2)}}
	s.Add(member(0, "start", 0))
	s.Of[0].Members()[0].Asked = 5
	if n := s.Of[1].Members()[0].Asked; n != 0 {
		t.Errorf("the other island's member was asked %d times", n)
	}
}
