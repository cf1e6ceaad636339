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
type decisions struct {
	made  []Record
	pasts map[int]*Past // of the pulls of the run read last, by number: each run of a journal counts its own from 0
	drawn map[int]*Past // of all pulls, by where in made they were drawn
	runs  []begun       // those of the file
	run   int           // how many of them this incarnation has begun
	raise int           // where in made it went on with a larger limit last
	next  int           // of made, the one to be made now
	final bool          // the last decision is a stop that stands
	live  chan struct{} // closed when every decision of the run is made again
}

// A begun is where a run begins: in made, of one that is made for the first time its end, and in the file.
type begun struct {
	at     int
	offset int64
}

func newDecisions() decisions {
	return decisions{pasts: make(map[int]*Past), drawn: make(map[int]*Past), live: make(chan struct{})}
}

// A Past is what the file holds of a pull that an earlier incarnation drew.
type Past struct {
	Ended bool            // its reward was reported, so the file holds everything that it asked for
	Took  time.Duration   // how long it took, if it ended
	Bred  []time.Duration // how long each step of its search took, as that measured it, if it ended
	// indices of its children in the order in which they were taken in, and Beyond; nil if that is by index
	Taken []int
	drew  int64 // when
}

// readDecision takes in a decision, in the order in which it was made.
func (j *Journal) readDecision(r *Record, at wal.Place) {
	switch r.Kind {
	case Run:
		clear(j.pasts)
		j.runs = append(j.runs, begun{len(j.made), at.Offset})
	case Draw:
		p := &Past{drew: r.Time}
		j.pasts[*r.Pull], j.drawn[len(j.made)] = p, p
	case Report:
		if p := j.pasts[*r.Pull]; p != nil {
			// A pull that a kill cut short was made again, and took what it took in the incarnation that ended it.
			began := max(p.drew, j.now.UnixMilli())
			p.Ended, p.Took, p.Bred = true, max(0, time.Duration(r.Time-began)*time.Millisecond), r.Bred
		}
	}
	j.made = append(j.made, *r)
	j.final = r.Kind == Stop
}

// Past returns what the file holds of the next pull. Call it before [Journal.Decide], which makes the draw again and
// moves on to the next decision.
func (j *Journal) Past() Past {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.drawn[j.next]; p != nil {
		return *p
	}
	return Past{}
}

// Finished reports whether the run in the file is over. To make it again gives its result and asks the model for
// nothing, unless the run is given a larger limit (see evolve.Budget). If a program makes several runs with one
// journal, it reports on the one that was begun last in this incarnation.
func (j *Journal) Finished() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run == 0 {
		return j.final
	}
	end := j.end()
	return j.runs[j.run-1].at < end && j.made[end-1].Kind == Stop
}

// Runs returns how many runs of the file this incarnation has begun.
func (j *Journal) Runs() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// end returns where in made the decisions end of the run that was begun last in this incarnation.
func (d *decisions) end() int {
	if d.run < len(d.runs) {
		return d.runs[d.run].at
	}
	return len(d.made)
}

// own reports whether a record belongs to the run that was begun last in this incarnation. A program may make several
// runs with one journal, and what one of them paid for must not count for another.
func (d *decisions) own(p wal.Place) bool {
	after := d.run <= 1 || p.Offset > d.runs[d.run-1].offset
	return after && (d.run >= len(d.runs) || p.Offset < d.runs[d.run].offset)
}

// Live returns a channel that is closed once every decision of earlier incarnations of the run is made again. Calls
// that the file does not hold wait for it. A run that turns out to be another one has then paid for nothing.
func (j *Journal) Live() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.live
}

// Next returns the decision that an earlier incarnation made at this point. It reports whether there is one, that is,
// whether the run is in replay.
func (j *Journal) Next() (r Record, replaying bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == len(j.made) {
		return Record{}, false
	}
	return j.made[j.next], true
}

// Decide records a decision, or compares it with the one that an earlier incarnation made at this point. It returns
// [ErrDiverged] if they differ, and so does every later Decide.
//
// A [Stop] is on disk when Decide returns: a run that its caller knows to be over must be over after a loss of power
// too. Other decisions reach the disk with the next reply. One that is lost was followed by nothing that was paid
// for, and is made again.
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
		j.runs = append(j.runs, begun{len(j.made), p.Offset})
		j.run++
	}
	return nil
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

// Diverged records and returns the error that pull asks for something that the file should hold and does not: the
// pull's end is in the file, and everything that it asked for stands before that.
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

// Behind reports whether the file holds decisions or answers that this incarnation has not made or asked for again.
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
	return j.durable(&Record{Kind: Pause, Stop: stop, Ledger: spent, Error: llm.NewErrorRecord(why)})
}

// Raise makes a run that a limit ended go on with a larger limit. now is what the run is given. larger reports
// whether now differs from what it was given then in a larger limit of the given name alone: the journal knows no
// budget. Raise does nothing if the last run in the file is not over, or if larger reports false.
func (j *Journal) Raise(now map[string]string, larger func(limit string, then map[string]string) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || !j.final || len(j.runs) == 0 || j.next != j.runs[len(j.runs)-1].at {
		return nil // not over, or replay is at another run of this file
	}
	limit := j.made[len(j.made)-1].Limit
	if !larger(limit, j.made[j.next].Fingerprint) {
		return nil
	}
	err := j.durable(&Record{Kind: Raise, Fingerprint: now, Limit: limit})
	if err == nil {
		j.goOn(now)
	}
	return err
}

// goOn revokes the stop, which is the last decision. From now on the run counts as one that was given f from the
// beginning. What the smaller limit left no room for before is in the file as refusals, and stands.
func (j *Journal) goOn(f map[string]string) {
	j.made = j.made[:len(j.made)-1]
	j.made[j.runs[len(j.runs)-1].at].Fingerprint = f
	j.raise, j.final = len(j.made), false
}

// RaisedLater reports whether the decision to be made now was first made before a limit was raised. A limit that left
// no room at this point did not end the run for good, and must not end its replay.
func (j *Journal) RaisedLater() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < j.raise
}
