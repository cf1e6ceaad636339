package record

import (
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// read takes in a record of an earlier incarnation.
func (j *Journal) read(e wal.Entry) (*Record, error) {
	p, ok := peek(e.Object)
	r := &j.peeked
	r.Kind, r.Time = p.kind, p.time
	if !ok || p.kind.whole() {
		var err error
		if r, err = decode(e.Object); err != nil {
			return r, fmt.Errorf("line %d: %w", e.Index+1, err)
		}
	}
	id := ID{p.key, p.n}
	switch {
	case r.Kind.effect():
		j.readEffect(id, effect{e.Place, r.Kind}, r.Alone || r.Kind == Refusal && r.Error != nil)
		j.ended(id)
	case r.Kind.decision():
		j.readDecision(r, e.Place)
	default:
		if err := j.readOther(id, e, r); err != nil {
			return r, err
		}
	}
	j.latest = time.UnixMilli(r.Time)
	return r, nil
}

// whole reports whether records of this kind are decoded in full when a journal is opened. The others hold most
// of the bytes, and are decoded when they are asked for.
func (k Kind) whole() bool {
	switch k {
	case Header, Raise, Pause, Taken, Failure, Refusal:
		return true
	}
	return k.decision()
}

// readOther takes in a record that is neither an effect nor a decision.
func (j *Journal) readOther(id ID, e wal.Entry, r *Record) error {
	switch r.Kind {
	case Header, Start:
	case Child:
		j.children[id] = e.Place
	case Incarnation:
		j.close()
		j.now = time.UnixMilli(r.Time)
	case Begin:
		j.begun[id] = append(j.begun[id], e.Place)
	case Tried:
		j.begun[id] = j.begun[id][min(1, len(j.begun[id])):] // one of them
		j.tried[id] = append(j.tried[id], e.Place)
	case Abandoned:
		j.given[id] = e.Place
		j.abandoned = append(j.abandoned, e.Place)
		j.ended(id)
	case Program:
		j.programs[id.Key] = e.Place
	case Taken:
		if at, ok := j.drawn[*r.Pull]; ok {
			j.taken[at] = append(j.taken[at], *r.Child)
		}
	case Pause:
		if r.Error != nil {
			j.paused()
		}
	case Raise:
		if !j.final || j.made[len(j.made)-1].Limit != r.Limit {
			return fmt.Errorf("line %d: a limit is raised that did not end the run", e.Index+1)
		}
		j.goOn(r.Fingerprint)
	default:
		return fmt.Errorf("line %d: unknown kind %q", e.Index+1, r.Kind)
	}
	return nil
}

// readDecision takes in a decision, in the order in which it was made.
func (j *Journal) readDecision(r *Record, at wal.Place) {
	switch r.Kind {
	case Run:
		clear(j.drawn)
		j.ran = len(j.made)
		j.starts = append(j.starts, len(j.made))
		j.runs = append(j.runs, at.Offset)
	case Draw:
		j.drawn[*r.Pull] = len(j.made)
	case Report:
		if at, ok := j.drawn[*r.Pull]; ok {
			// A pull that a kill cut short was made again, and took what it took in the incarnation that ended it.
			begin := max(j.made[at].Time, j.now.UnixMilli())
			j.ends[at] = ending{max(0, time.Duration(r.Time-begin)*time.Millisecond), r.Bred}
		}
	}
	j.made = append(j.made, *r)
	j.final = r.Kind == Stop
}

// begin starts this incarnation. It is called when all earlier ones have been read.
func (j *Journal) begin() {
	j.close()
	j.now = time.Now()
	j.wrote.Store(false) // but for the record that this one begins
	if len(j.made) == 0 {
		close(j.live)
	}
}
