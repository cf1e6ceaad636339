package lineage

import (
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// records are those of one run.
type records struct {
	fingerprint journal.Fingerprint
	arms        map[int]journal.Record // what each begins with
	early       []*early               // in journals without such records
	draws       map[int]drawn          // by pull
	steps       map[int]int            // draws by arm
	reported    map[int]bool           // pulls
	over        bool
	children    []journal.Record
	place       map[address]int // of children
}

// An early program was evaluated before an arm was drawn.
type early struct {
	first  journal.Record
	scores map[string]bool // keys of its evaluations
}

// A drawn pull is a step of an arm.
type drawn struct{ arm, step int }

// An address tells the children of a run apart. A search that breeds twice in a step has two children of one index.
type address struct{ pull, index, id int }

func addressOf(r journal.Record) address { return address{*r.Pull, *r.Child, r.ID} }

func newRecords(given journal.Fingerprint) *records {
	return &records{
		fingerprint: given, arms: make(map[int]journal.Record), draws: make(map[int]drawn), steps: make(map[int]int),
		reported: make(map[int]bool), place: make(map[address]int),
	}
}

// take takes in a record of the run.
func (rs *records) take(r journal.Record) error {
	switch r.Kind {
	case journal.Incarnation:
		rs.again()
	case journal.Stop:
		rs.over = true
	case journal.Raise:
		rs.over = false
		rs.again()
	case journal.Start:
		rs.arms[*r.Arm] = r
	case journal.Evaluation:
		if len(rs.draws) == 0 {
			rs.evaluated(r)
		}
	case journal.Draw:
		rs.steps[*r.Arm]++
		rs.draws[*r.Pull] = drawn{*r.Arm, rs.steps[*r.Arm]}
	case journal.Report:
		rs.reported[*r.Pull] = true
	case journal.Child:
		return rs.child(r)
	}
	return nil
}

// again takes in that the run goes on. Steps that were cut short are made again, and their children are recorded again.
// A run that is over records none.
func (rs *records) again() {
	if rs.over {
		return
	}
	rs.children = slices.DeleteFunc(rs.children, func(c journal.Record) bool { return !rs.reported[*c.Pull] })
	clear(rs.place)
	for i, c := range rs.children {
		rs.place[addressOf(c)] = i
	}
}

// evaluated takes in an evaluation that was made before an arm was drawn.
func (rs *records) evaluated(r journal.Record) {
	i := slices.IndexFunc(rs.early, func(s *early) bool { return s.first.Program == r.Program })
	if i < 0 {
		i = len(rs.early)
		rs.early = append(rs.early, &early{r, make(map[string]bool)})
	}
	rs.early[i].scores[r.Key] = true
}

// child takes in a child. The record of a child that is there already replaces that.
func (rs *records) child(r journal.Record) error {
	if _, ok := rs.draws[*r.Pull]; !ok {
		return fmt.Errorf("record %d is a child of pull %d, and no record says which arm that drew", r.Index, *r.Pull)
	}
	if i, ok := rs.place[addressOf(r)]; ok {
		rs.children[i] = r
		return nil
	}
	rs.place[addressOf(r)] = len(rs.children)
	rs.children = append(rs.children, r)
	return nil
}

// guessed returns what the arms began with in a journal that has no records of that. One program that was evaluated
// before a draw is that of all arms. As many as there are arms are theirs in order, because arms are started in order.
// Otherwise some arms share a program and others do not, or an arm evaluated several, and nobody knows.
func (rs *records) guessed(arms int) (starts map[int]journal.Record, shared bool) {
	if len(rs.early) != 1 && len(rs.early) != arms {
		return nil, false
	}
	starts = make(map[int]journal.Record)
	for arm, e := range rs.early {
		r := journal.Record{Time: e.first.Time, Program: e.first.Program}
		// Where a program is evaluated part by part, the score of the whole is not among those of its parts.
		if len(e.scores) == 1 {
			r.Valid, r.Score = e.first.Result.Valid, e.first.Result.Score
		}
		starts[arm] = r
	}
	return starts, len(rs.early) == 1
}
