package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// New returns a Run of which nothing is known, and a function that takes in the next record of its journal. add returns
// the row of the child that the record tells of, -1 if it tells of none, or of one whose pull is not known. Its time grows
// with what is new and not with the run, and it keeps what a Run has and not the record: 40,000 children take some tens of
// MB. Neither is safe for concurrent use.
//
// New is for packages of this module, such as view, which changes a Run under a lock of its own: no other can name a
// record. Read and Follow are what others need.
//
// limits has what is said of a run that a limit of its budget ended, by the limit's name; nil names the limit. reply, if
// it is not nil, is called with each child that was made of a model's reply, once its row is there. A Run does not keep
// replies.
func New(limits map[string]string, reply func(row int, reply string)) (run *Run, add func(record.Record) (row int)) {
	b := newBuilder()
	b.limits, b.reply = limits, reply
	return b.run, b.Add
}

// A builder makes a [Run] of what it is told, in the order in which it happened.
type builder struct {
	reply  func(row int, reply string)
	limits map[string]string

	run       *Run
	records   int           // that were taken in
	pulls     map[int]*pull // of the run read last that are not over, by number
	calls     calls
	settled   *Sums // children of pulls that are over
	notes     notes
	endpoints map[string]int // by name, their index
	labels    map[string]map[string]string
	// reasons has the programs that were evaluated, by key, and why they are invalid: of the first evaluation that found
	// it. Once a child's record has told its state, only those that are invalid are kept.
	reasons map[string]string
	states  bool    // records of children tell states
	drawn   bool    // an arm of the run read last was drawn
	early   []early // programs that were evaluated before, in order
	over    bool    // the run read last is over
}

// A pull is one that was drawn and whose reward is not reported yet.
type pull struct {
	arm, round int
	step       int              // of its search, the one under way
	rows       map[[3]int]int   // children taken in, by step, index and ID
	asides     map[callID]ended // calls beside those of its children, which a session may have made
}

func newBuilder() *builder {
	b := &builder{
		run:   &Run{Tally: newTally()},
		pulls: map[int]*pull{}, calls: calls{open: map[callID]*call{}, done: map[callID]ended{}}, settled: newSums(),
		notes: notes{}, endpoints: map[string]int{}, labels: map[string]map[string]string{}, reasons: map[string]string{},
	}
	b.run.b = b
	return b
}

// settleAll counts the children of pulls that are not over for good.
func (b *builder) settleAll() {
	for _, number := range slices.Sorted(maps.Keys(b.pulls)) {
		b.settle(b.pulls[number])
	}
	clear(b.pulls)
}

// Add takes in the next record of a journal, see [New]. Records of kinds that a Run does not have are passed over, so
// that a Run can be made of a newer version's journal.
func (b *builder) Add(r record.Record) (row int) {
	b.records++
	if r.Kind == record.Incarnation {
		b.incarnation(r)
	}
	b.run.Clock.read(r.Time)
	r = numbers(r)
	row = -1
	switch r.Kind {
	case record.Header:
		b.run.Header = r.Fingerprint
	case record.Run:
		b.begin(r)
	case record.Raise:
		b.raise(r)
	case record.Stop:
		b.stop(r)
	case record.Pause:
		b.pause(r)
	case record.Evaluation:
		b.evaluation(r)
	case record.Tuning:
		b.run.Tuned++
	case record.Begin, record.Tried, record.Completion, record.Failure, record.Abandoned, record.Refusal:
		b.call(r)
	case record.Session:
		if r.Pull != nil { // else it is a text that a session remembers
			b.session(r)
		}
	case record.Start:
		b.start(r)
	case record.Draw:
		b.draw(r)
	case record.Child:
		row = b.child(r)
	case record.Report:
		b.report(r)
	}
	if r.Ledger != nil {
		b.run.Budget = r.Ledger
	}
	b.run.Flying = len(b.calls.open)
	return row
}

// numbers returns a record with finite numbers alone, as JSON has no others.
func numbers(r record.Record) record.Record {
	r.Reward, r.Prob = finite(r.Reward), finite(r.Prob)
	if r.Score != finite(r.Score) {
		r.Score, r.Valid = 0, false
		if r.State == books.StateValid {
			r.State = books.StateInvalid
		}
	}
	return r
}

// begin begins the next run of the file. Its arms come after those of the runs before it.
func (b *builder) begin(r record.Record) {
	run := b.run
	run.Given = r.Fingerprint
	run.Models = modelsOf(r.Models)
	run.Runs++
	run.FirstArm = len(run.Arms)
	run.Ending = Ending{}
	b.settleAll()
	b.drawn, b.early, b.over = false, nil, false
	n, err := strconv.Atoi(r.Fingerprint["arms"])
	if err == nil && n > 0 && n <= mostArms {
		b.arm(n - 1)
	}
	for i, a := range r.Arms[:min(len(r.Arms), mostArms)] {
		at := b.arm(i) // which may move the arms
		run.Arms[at].Seed = a.Seed
	}
}

func modelsOf(told []record.Model) (models []llm.Model) {
	for _, m := range told {
		models = append(models, llm.Model{Key: m.Key, Name: m.Name, ActiveParams: m.ActiveParams,
			Price: (*llm.Price)(m.Price)})
	}
	return models
}

// mostArms bounds the arms of a run: a journal that was written by hand must not fill the memory with a number.
const mostArms = 1 << 16

// arm returns the index of the i-th arm of the run, which it makes if it is not there yet.
func (b *builder) arm(i int) int {
	at := b.run.FirstArm + i
	for len(b.run.Arms) <= at {
		a := Arm{Number: len(b.run.Arms) - b.run.FirstArm, Run: b.run.Runs, settled: newTotals(""), born: map[int]int{}}
		b.run.Arms = append(b.run.Arms, a)
	}
	return at
}

// draw takes in that an arm was drawn.
func (b *builder) draw(r record.Record) {
	if r.Pull == nil || r.Arm == nil || *r.Arm < 0 || *r.Arm >= mostArms {
		return
	}
	b.begun()
	at := b.arm(*r.Arm)
	a := &b.run.Arms[at]
	a.Steps++
	a.draws++
	a.Step()
	b.pulls[*r.Pull] = &pull{arm: at, round: len(b.run.Rounds), step: a.Steps, rows: map[[3]int]int{},
		asides: map[callID]ended{}}
	b.run.Rounds = append(b.run.Rounds, Round{Arm: at, Pull: *r.Pull, Step: a.draws, Prob: r.Prob, Calls: r.Calls,
		Begin: b.run.Clock.Now()})
}

// report takes in that the reward of a pull was reported. Its children stay as they are.
func (b *builder) report(r record.Record) {
	p := b.pulls[pullOf(r)]
	if p == nil {
		return
	}
	delete(b.pulls, *r.Pull)
	b.settle(p)
	best, _ := b.run.BestScore()
	round := &b.run.Rounds[p.round]
	round.Reward, round.Over, round.Best, round.End = r.Reward, true, best.Value, b.run.Clock.Now()
	round.Score = b.run.Arms[p.arm].Best.Value
	round.Seconds = float64(round.End-round.Begin) / 1000
}

// settle counts the children of a pull for good.
func (b *builder) settle(p *pull) {
	for _, row := range slices.Sorted(maps.Values(p.rows)) {
		c := &b.run.Children[row]
		parent := b.run.parentScore(c)
		b.settled.add(c, row, parent)
		b.run.Arms[c.Arm].settled.add(c, row, parent)
	}
}

// begins notes the program that an arm begins with.
func (b *builder) begins(at int, start Start) {
	if start.Value != finite(start.Value) {
		start.Score = Score{}
	}
	a := &b.run.Arms[at]
	start.Known = true
	a.Start = start
	if a.Steps == 0 {
		a.Best = start.Score
	}
}

// start takes in what an arm begins with.
func (b *builder) start(r record.Record) {
	if r.Arm != nil && *r.Arm >= 0 && *r.Arm < mostArms {
		b.begins(b.arm(*r.Arm), Start{Score: Score{r.Score, r.Valid}, Program: r.Program,
			Reason: cmp.Or(r.Reason, b.reasons[r.Program]), Stamp: r.Time})
	}
}

// share returns labels that are equal to those of an earlier child as one map: many children stand in few places.
func (b *builder) share(labels map[string]string) map[string]string {
	if len(labels) == 0 {
		return nil
	}
	key := fmt.Sprintf("%q", labels) // in the order of the kinds
	if is, ok := b.labels[key]; ok {
		return is
	}
	if len(b.labels) < mostShared {
		b.labels[key] = labels
	}
	return labels
}

// mostShared is how many sets of labels are kept to be shared.
const mostShared = 10_000
