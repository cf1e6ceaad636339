package record

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm"
)

// earlier is what earlier incarnations left behind beside answers. It keeps places in the file and not records,
// since most of it is read once at the end, or never.
type earlier struct {
	begun     map[ID][]wal.Place // attempts that the incarnation being read sent and whose end was not read yet
	tried     map[ID][]wal.Place // attempts that ended, of calls whose end was not read yet
	lost      []wal.Place        // what was in begun when an incarnation ended, in the file's order
	left      []wal.Place        // what was in tried when one ended, in the file's order
	abandoned []wal.Place        // calls that were abandoned or made again, in order
	shown     map[wal.Place]bool // of these, those that this incarnation's result tells, too
	latest    time.Time          // of the last record read
	spent     time.Duration      // time of all earlier incarnations
	now       time.Time          // when this one began
	wrote     atomic.Bool        // this one appended a record
	peeked    Record             // kind and time of the record that is read, if the rest is not decoded
}

func newEarlier() earlier {
	return earlier{begun: make(map[ID][]wal.Place), tried: make(map[ID][]wal.Place), shown: make(map[wal.Place]bool)}
}

// ended takes in that call id ended. The record of its end holds all of its attempts, so those that were noted
// one by one must not count again.
func (e *earlier) ended(id ID) {
	delete(e.begun, id)
	delete(e.tried, id)
}

// close ends the incarnation that the last records belong to. What it began and did not end is lost, even if a
// later incarnation makes it again: both were sent.
//
// Its time is that of its last record, because a process that is killed records no end.
func (e *earlier) close() {
	for _, places := range e.begun {
		e.lost = append(e.lost, places...)
	}
	for _, places := range e.tried {
		e.left = append(e.left, places...)
	}
	slices.SortFunc(e.lost, byOffset)
	slices.SortFunc(e.left, byOffset)
	clear(e.begun)
	clear(e.tried)
	if !e.now.IsZero() && e.latest.After(e.now) {
		e.spent += e.latest.Sub(e.now)
	}
}

// Lost returns how many attempts earlier incarnations had sent and not seen the end of when they were killed.
// They may have been paid for, and no generation of the run holds them. The run makes them again, and
// [Journal.Earlier] counts them. Calls that waited in a queue are not among them, if the queue announces what
// it sends (llm.Announces).
func (j *Journal) Lost() int { return len(j.lost) }

// Elapsed returns the time of all incarnations until now. An incarnation that only reads a run that is over adds
// nothing.
func (j *Journal) Elapsed() time.Duration {
	over := j.Finished() && !j.wrote.Load()
	j.mu.Lock()
	defer j.mu.Unlock()
	if over {
		return j.spent
	}
	return j.spent + time.Since(j.now)
}

// Abandoned returns the records of the calls that earlier incarnations of the run abandoned, and of the attempts that
// had ended of calls that were under way at a kill. What they cost counts in the run's budget.
func (j *Journal) Abandoned() ([]Record, error) {
	j.mu.Lock()
	places := j.ofRun(j.abandoned, j.left)
	j.mu.Unlock()
	return j.records(places)
}

// Owed returns the records of the calls and evaluations of the run that earlier incarnations made and this one has
// not asked for yet, in the order of the file. When every decision is made again, they belong to pulls that were cut
// short, or nobody asks for them.
func (j *Journal) Owed() ([]Record, error) {
	j.mu.Lock()
	places := j.ofRun(j.unasked(Completion, Failure, Evaluation, Tuning))
	j.mu.Unlock()
	return j.records(places)
}

// Earlier returns what earlier incarnations paid for that no generation of this one's result holds. whole says
// that the run is over. Only then are answers that it did not ask for unclaimed: a run that was stopped while
// it was made again may ask for them yet.
func (j *Journal) Earlier(whole bool) (e books.Earlier, err error) {
	j.mu.Lock()
	abandoned := slices.DeleteFunc(j.ofRun(j.abandoned, j.left), func(p wal.Place) bool { return j.shown[p] })
	var unclaimed []wal.Place
	if whole {
		unclaimed = j.ofRun(j.unasked(Completion, Failure))
	}
	lost := j.ofRun(j.lost)
	j.mu.Unlock()
	if e.Abandoned, err = j.attempts(abandoned); err != nil {
		return e, err
	}
	if e.Unclaimed, err = j.attempts(unclaimed); err != nil {
		return e, err
	}
	for _, p := range lost {
		r, err := j.at(p)
		if err != nil {
			return e, err
		}
		e.Lost = append(e.Lost, r.Lost())
	}
	return e, nil
}

// Lost returns what stands for the attempt that r began and whose end is not known.
func (r *Record) Lost() llm.Attempt {
	return llm.Attempt{Status: llm.Canceled, MaxTokens: r.MaxTokens, EstimatedPrompt: llm.EstimateTokens(r.Prompt),
		Err: "the process was killed before it ended"}
}

// records reads the records at places.
func (j *Journal) records(places []wal.Place) (records []Record, err error) {
	for _, p := range places {
		r, err := j.at(p)
		if err != nil {
			return nil, err
		}
		records = append(records, *r)
	}
	return records, nil
}

// ofRun returns the places that belong to the run that was begun last.
func (j *Journal) ofRun(places ...[]wal.Place) []wal.Place {
	return slices.DeleteFunc(slices.Concat(places...), func(p wal.Place) bool { return !j.own(p) })
}

// attempts returns the attempts of the calls at places. Calls without an attempt are left out.
func (j *Journal) attempts(places []wal.Place) (calls [][]llm.Attempt, err error) {
	for _, p := range places {
		r, err := j.at(p)
		if err != nil {
			return nil, err
		}
		if len(r.Reply.Attempts) > 0 {
			calls = append(calls, r.Reply.Attempts)
		}
	}
	return calls, nil
}
