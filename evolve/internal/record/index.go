package record

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm"
)

// An index says where in the file stands what earlier incarnations left. It has places and not records, because the
// replies of a long run need not fit in memory, and most of the rest is read once at the end, or never.
type index struct {
	answers  map[ID]answer     // those of calls are dropped when they are recalled, and what is left is unclaimed
	last     map[Key]wal.Place // of evaluations, tunings and refusals, the last of each key
	given    map[ID]wal.Place  // calls that were abandoned, and not answered later
	claimed  map[Key]int       // occurrences handed out in this incarnation
	programs map[Key]wal.Place // where their texts are
	children map[ID]wal.Place  // the last Child record of each call
	answered int64             // offset of the last completion

	begun     map[ID][]wal.Place // attempts that the incarnation being read sent and whose end was not read yet
	tried     map[ID][]wal.Place // attempts that ended, of calls whose end was not read yet
	lost      []wal.Place        // what was in begun when an incarnation ended, in the file's order
	left      []wal.Place        // what was in tried when one ended, in the file's order
	abandoned []wal.Place        // calls that were abandoned or made again and that no result of this incarnation tells
	latest    time.Time          // of the last record read
	spent     time.Duration      // time of all earlier incarnations
	now       time.Time          // when this one began
	wrote     atomic.Bool        // this one appended a record
	peeked    Record             // kind and time of the record that is read, if the rest is not decoded
}

// An answer is where the end of a call, an evaluation or a session stands.
type answer struct {
	wal.Place
	kind   Kind
	failed bool // a failure, or an evaluation that a failed call cost
	alone  bool // that cost one child
	again  bool // to be made again
}

func newIndex() index {
	return index{answers: make(map[ID]answer), last: make(map[Key]wal.Place), given: make(map[ID]wal.Place),
		claimed: make(map[Key]int), programs: make(map[Key]wal.Place), children: make(map[ID]wal.Place),
		begun: make(map[ID][]wal.Place), tried: make(map[ID][]wal.Place)}
}

// peek reads the beginning of a record as this package writes it, without decoding the rest. A journal of 100,000
// replies is opened in seconds because their text is not parsed. It reports false for any other layout, such as a
// line that another program wrote, which is then decoded in full.
func peek(object []byte, r *Record) (id ID, ok bool) {
	_, rest, _ := bytes.Cut(object, []byte(`,"kind":"`))
	kind, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return id, false
	}
	r.Kind = Kind(kind)
	if key, found := bytes.CutPrefix(rest, []byte(`,"key":"`)); found {
		end := bytes.IndexByte(key, '"')
		if end < 2*named {
			return id, false
		}
		if _, err := hex.Decode(id.Key[:named], key[:2*named]); err != nil {
			return id, false
		}
		rest = key[end+1:]
	}
	n, rest, _ := number(rest, `,"n":`)
	id.N = int(n)
	r.Time, _, ok = number(rest, `,"t":`)
	return id, ok
}

// number reads a field that holds an integer, if b begins with its name.
func number(b []byte, name string) (v int64, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(b, []byte(name))
	end := bytes.IndexAny(after, ",}")
	if !ok || end < 0 {
		return 0, b, false
	}
	v, err := strconv.ParseInt(string(after[:end]), 10, 64)
	return v, after[end:], err == nil
}

// read takes in a record of an earlier incarnation.
func (j *Journal) read(e wal.Entry) (*Record, error) {
	r := &j.peeked
	id, ok := peek(e.Object, r)
	if !ok || r.Kind.whole() {
		var err error
		if r, err = decode(e.Object); err != nil {
			return r, fmt.Errorf("line %d: %w", e.Index+1, err)
		}
	}
	j.latest = time.UnixMilli(r.Time)
	switch {
	case r.Kind.effect():
		j.readAnswer(id, answer{Place: e.Place, kind: r.Kind, failed: r.Kind == Failure || r.Error != nil,
			alone: r.Alone || r.Kind == Refusal})
	case r.Kind.decision():
		j.readDecision(r, e.Place)
	default:
		if err := j.readOther(id, e.Place, r); err != nil {
			return r, fmt.Errorf("line %d: %w", e.Index+1, err)
		}
	}
	return r, nil
}

// whole reports whether records of this kind are decoded in full when a journal is opened. The others hold most of
// the bytes, and are decoded when they are asked for.
func (k Kind) whole() bool {
	return k.decision() || slices.Contains([]Kind{Header, Raise, Pause, Taken, Failure, Refusal}, k)
}

// readAnswer takes in how something ended. A later end of the same identity replaces it.
func (j *Journal) readAnswer(id ID, a answer) {
	if old, found := j.answers[id]; found && old.kind == Failure {
		j.abandoned = append(j.abandoned, old.Place) // it was made again, and both were paid for
	}
	j.answers[id] = a
	delete(j.given, id)
	j.ended(id)
	switch a.kind {
	case Completion:
		j.answered = a.Offset
	case Evaluation, Tuning, Refusal:
		j.last[id.Key] = a.Place
	}
}

// ended takes in that call id ended. The record of its end holds all of its attempts, so those that were noted one by
// one must not count again.
func (x *index) ended(id ID) {
	delete(x.begun, id)
	delete(x.tried, id)
}

// paused takes in that an error ended a run. Calls that failed before that are made again, because one of the
// failures may be that error. Recalled, it would end every incarnation from then on. A failure that cost a child
// alone is made again only if no call was answered after it: what was asked since may follow from it.
func (x *index) paused() {
	for id, a := range x.answers {
		if a.failed && (!a.alone || a.Offset > x.answered) {
			a.again = true
			x.answers[id] = a
		}
	}
}

// readOther takes in a record that is neither an answer nor a decision.
func (j *Journal) readOther(id ID, at wal.Place, r *Record) error {
	switch r.Kind {
	case Header, Start:
	case Child:
		j.children[id] = at
	case Incarnation:
		j.close()
		j.now = time.UnixMilli(r.Time)
	case Begin:
		j.begun[id] = append(j.begun[id], at)
	case Tried:
		j.begun[id] = j.begun[id][min(1, len(j.begun[id])):] // one of them
		j.tried[id] = append(j.tried[id], at)
	case Abandoned:
		j.given[id] = at
		j.abandoned = append(j.abandoned, at)
		j.ended(id)
	case Program:
		j.programs[id.Key] = at
	case Taken:
		if p := j.pasts[*r.Pull]; p != nil {
			p.Taken = append(p.Taken, *r.Child)
		}
	case Pause:
		if r.Error != nil {
			j.paused()
		}
	case Raise:
		if !j.final || j.made[len(j.made)-1].Limit != r.Limit {
			return fmt.Errorf("a limit is raised that did not end the run")
		}
		j.goOn(r.Fingerprint)
	default:
		return fmt.Errorf("unknown kind %q", r.Kind)
	}
	return nil
}

// close ends the incarnation that the last records belong to. What it began and did not end is lost, even if a later
// incarnation makes it again: both were sent. Its time is that of its last record, because a process that is killed
// records no end.
func (x *index) close() {
	for _, places := range x.begun {
		x.lost = append(x.lost, places...)
	}
	for _, places := range x.tried {
		x.left = append(x.left, places...)
	}
	slices.SortFunc(x.lost, byOffset)
	slices.SortFunc(x.left, byOffset)
	clear(x.begun)
	clear(x.tried)
	if !x.now.IsZero() && x.latest.After(x.now) {
		x.spent += x.latest.Sub(x.now)
	}
}

// Lost returns how many attempts earlier incarnations had sent and not seen the end of when they were killed. They
// may have been paid for, and no generation of the run holds them. The run makes them again, and [Journal.Earlier]
// counts them. Calls that waited in a queue are not among them, if the queue announces what it sends (llm.Announces).
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
// had ended of calls that were under way at a kill. What they cost counts in the budget.
func (j *Journal) Abandoned() ([]Record, error) {
	return j.records(func() []wal.Place { return slices.Concat(j.abandoned, j.left) })
}

// Owed returns the records of the calls and evaluations of the run that earlier incarnations made and this one has not
// asked for yet, in the order of the file. When every decision is made again, they belong to pulls that were cut short,
// or nobody asks for them.
func (j *Journal) Owed() ([]Record, error) {
	return j.records(func() []wal.Place { return j.unasked(Completion, Failure, Evaluation, Tuning) })
}

// Earlier returns what earlier incarnations paid for that no generation of this one's result holds. whole says that the
// run is over. Only then are answers that it did not ask for unclaimed: a run that was stopped while it was made again
// may ask for them yet.
func (j *Journal) Earlier(whole bool) (e books.Earlier, err error) {
	calls := func(records []Record, bad error) (calls [][]llm.Attempt) {
		for _, r := range records {
			if len(r.Reply.Attempts) > 0 {
				calls = append(calls, r.Reply.Attempts)
			}
		}
		err = cmp.Or(err, bad)
		return calls
	}
	e.Abandoned = calls(j.Abandoned())
	if whole {
		e.Unclaimed = calls(j.records(func() []wal.Place { return j.unasked(Completion, Failure) }))
	}
	lost, bad := j.records(func() []wal.Place { return slices.Clone(j.lost) })
	for _, r := range lost {
		e.Lost = append(e.Lost, r.Lost())
	}
	return e, cmp.Or(err, bad)
}

// Lost returns what stands for the attempt that r began and whose end is not known.
func (r *Record) Lost() llm.Attempt {
	return llm.Attempt{Status: llm.Canceled, MaxTokens: r.MaxTokens, EstimatedPrompt: llm.EstimateTokens(r.Prompt),
		Err: "the process was killed before it ended"}
}

// unasked returns where the answers of these kinds stand that earlier incarnations got and this one did not ask for,
// in the order of the file: the order of a map would give another result each time.
func (x *index) unasked(kinds ...Kind) (places []wal.Place) {
	for id, a := range x.answers {
		// An evaluation stays among the answers when it is recalled, as it may be asked for again.
		if slices.Contains(kinds, a.kind) && (a.kind != Evaluation && a.kind != Tuning || id.N >= x.claimed[id.Key]) {
			places = append(places, a.Place)
		}
	}
	slices.SortFunc(places, byOffset)
	return places
}

func byOffset(a, b wal.Place) int { return cmp.Compare(a.Offset, b.Offset) }

// records reads the records at the places that belong to the run that was begun last.
func (j *Journal) records(places func() []wal.Place) (records []Record, err error) {
	j.mu.Lock()
	own := slices.DeleteFunc(places(), func(p wal.Place) bool { return !j.own(p) })
	j.mu.Unlock()
	for _, p := range own {
		r, err := j.at(p)
		if err != nil {
			return nil, err
		}
		records = append(records, *r)
	}
	return records, nil
}
