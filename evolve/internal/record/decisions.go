package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm"
)

// decisions are those of earlier incarnations in order, and how far this one has made them again.
//
// Maps are by a pull's place in made and not by its number, because a journal can hold several runs, one after
// the other, and each counts its pulls from 0.
type decisions struct {
	made   []Record
	drawn  map[int]int    // where in made a pull of the run read last was drawn
	ends   map[int]ending // by place in made: pulls whose reward was reported
	taken  map[int][]int  // by place in made: the children of the pull in the order they were taken in
	ran    int            // where in made the run read last began
	starts []int          // where in made each run begins that was read
	runs   []int64        // where in the file each run begins
	run    int            // how many of them this incarnation has begun
	raise  int            // where in made it went on with a larger limit last
	next   int            // of made, the one to be made now
	final  bool           // the last decision is a stop that stands
	live   chan struct{}  // closed when every decision of the run is made again
}

// An ending is how long a pull took, and each step of its search as that measured it.
type ending struct {
	took time.Duration
	bred []time.Duration
}

func newDecisions() decisions {
	return decisions{drawn: make(map[int]int), ends: make(map[int]ending), taken: make(map[int][]int),
		live: make(chan struct{})}
}

// Finished reports whether the run in the file is over. To make it again gives its result and asks the model for
// nothing, unless the run is given a larger limit (see evolve.Budget). If a program makes several runs with one
// journal, it reports on the one that was begun last in this incarnation.
func (j *Journal) Finished() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.run == 0:
		return j.final
	case j.run > len(j.starts): // it is made for the first time
		return false
	}
	return j.made[j.end()-1].Kind == Stop
}

// Runs returns how many runs of the file this incarnation has begun.
func (j *Journal) Runs() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// end returns where in made the decisions end of the run that was begun last in this incarnation.
func (d *decisions) end() int {
	if d.run < len(d.starts) {
		return d.starts[d.run]
	}
	return len(d.made)
}

// Live returns a channel that is closed once every decision of earlier incarnations of the run is made again.
// Calls that the file does not hold wait for it. A run that turns out to be another one has then paid for nothing.
func (j *Journal) Live() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.live
}

// Next returns the decision that an earlier incarnation made at this point. It reports whether there is one,
// that is, whether the run is in replay.
func (j *Journal) Next() (r Record, replaying bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == len(j.made) {
		return Record{}, false
	}
	return j.made[j.next], true
}

// A Past is what the file holds of a pull that an earlier incarnation drew.
type Past struct {
	Ended bool            // its reward was reported, so the file holds everything that it asked for
	Took  time.Duration   // how long it took, if it ended
	Bred  []time.Duration // how long each step of its search took, as that measured it, if it ended
	// indices of its children in the order in which they were taken in, and Beyond; nil if that is by index
	Taken []int
}

// Past returns what the file holds of the pull that is to be drawn now. It is to be called before the draw is
// made again by [Journal.Decide], which moves on to the next decision.
func (j *Journal) Past() (p Past) {
	j.mu.Lock()
	defer j.mu.Unlock()
	end, ended := j.ends[j.next] // a place beyond the decisions has none
	p.Took, p.Bred, p.Ended = end.took, end.bred, ended
	p.Taken = j.taken[j.next]
	return p
}

// Decide records a decision, or compares it with the one that an earlier incarnation made at this point. It
// returns [ErrDiverged] if they differ, and so does every later Decide.
//
// A [Stop] is on disk when Decide returns: a run that its caller knows to be over must be over after a loss of
// power too. Other decisions reach the disk with the next reply. One that is lost was followed by nothing that
// was paid for, and is made again.
func (j *Journal) Decide(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.next < len(j.made) {
		return j.repeat(r)
	}
	p, err := j.append(&r)
	switch {
	case err != nil:
		return err
	case r.Kind == Stop:
		return j.sync(p)
	case r.Kind == Run:
		j.final = false // one more run, after one that is over
		j.runs = append(j.runs, p.Offset)
		j.run++
	}
	return nil
}

// own reports whether a record belongs to the run that was begun last in this incarnation. A program may make several
// runs with one journal, and what one of them paid for must not count for another.
func (d *decisions) own(p wal.Place) bool {
	after := d.run <= 1 || p.Offset > d.runs[d.run-1]
	return after && (d.run >= len(d.runs) || p.Offset < d.runs[d.run])
}

// repeat compares r with the decision that stands here.
func (j *Journal) repeat(r Record) error {
	if err := j.made[j.next].compare(r); err != nil {
		j.err = fmt.Errorf("journal: %s: %w", j.path, err)
		return j.err
	}
	if r.Kind == Run {
		if j.run++; j.run > 1 {
			j.live = make(chan struct{}) // the one before is closed
		}
	}
	if j.next++; j.next == j.end() {
		close(j.live)
	}
	return nil
}

// Beyond stands in place of a child's index where no child was taken in: one more was begun, beyond the search's
// window, because the call of another paused before a retry.
const Beyond = -1

// Take records that a child of a pull is taken in next, or [Beyond]. It is called before the search acts on that, so
// that what the search asks for next stands after the reason for it.
func (j *Journal) Take(pull, child int) error {
	_, err := j.append(&Record{Kind: Taken, Pull: &pull, Child: &child})
	return err
}

// Diverged records and returns the error that pull asks for something that the file should hold and does not:
// the pull's end is in the file, and everything that it asked for stands before that.
func (j *Journal) Diverged(pull int, id ID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = fmt.Errorf("journal: %s: %w: pull %d asks for %v (occurrence %d), which it did not ask for then;"+
			" its requests depend on more than seeds and answers, or equal ones were under way at once", j.path, ErrDiverged,
			pull, id.Key, id.N)
	}
	return j.err
}

// Behind reports whether the file holds decisions or answers that this incarnation has not made or asked for
// again.
func (j *Journal) Behind() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < len(j.made) || slices.ContainsFunc(j.unasked(Completion, Failure), j.own)
}

// Pause records that a run ended and can go on, why, and what it had spent by then. After a pause by an error, calls
// that had failed may be made again (see [Journal.Recall]).
func (j *Journal) Pause(stop string, why error, spent *books.Ledger) error {
	if j.Err() != nil {
		return nil // the run ended because of the journal, and its error says so
	}
	r := Record{Kind: Pause, Stop: stop, Ledger: spent}
	if why != nil {
		r.Error = llm.NewErrorRecord(why)
	}
	p, err := j.append(&r)
	if err != nil {
		return err
	}
	return j.sync(p)
}
