package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// A Key names what was asked: of a call a hash of the digest of its request (llm.Digest) and of the pull or the
// evaluation that it was made for, of an evaluation a hash of the program, its evaluator and the sample.
type Key [sha256.Size]byte

// KeyOf returns the key of parts, which differ from any others if one of them does.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return Key(h.Sum(nil))
}

func (k Key) String() string { return hex.EncodeToString(k[:]) }

// An ID is one effect: what was asked, and how often it was asked before.
type ID struct {
	Key
	N int
}

// An effect is where the end of a call or an evaluation stands.
type effect struct {
	wal.Place
	kind Kind
}

// effects are the answers that the file holds, and which of them this incarnation asked for.
type effects struct {
	answers  map[ID]effect     // calls' are dropped when they are recalled
	last     map[Key]wal.Place // of evaluations and refusals, the last of each key
	failures map[ID]bool       // answers that are failures
	recent   []ID              // those that cost a child alone, and after which no call was answered
	again    map[ID]bool       // failures that are to be made again, after a pause by an error
	given    map[ID]wal.Place  // calls that were abandoned, and not answered later
	claimed  map[Key]int       // occurrences handed out in this incarnation
	programs map[Key]bool      // whose text is in the file
}

func newEffects() effects {
	return effects{
		answers:  make(map[ID]effect),
		last:     make(map[Key]wal.Place),
		failures: make(map[ID]bool),
		again:    make(map[ID]bool),
		given:    make(map[ID]wal.Place),
		claimed:  make(map[Key]int),
		programs: make(map[Key]bool),
	}
}

// Claim returns the identity of the next call or evaluation that asks for key.
func (j *Journal) Claim(key Key) ID {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.claimed[key]
	j.claimed[key] = n + 1
	return ID{key, n}
}

// Recall returns how call id ended in an earlier incarnation: a [Completion], a [Failure] or a [Refusal],
// nil if the file does not say. Each can be recalled once.
//
// A failure that stands before a pause by an error is not recalled, because the call is to be made again
// ([Journal.MadeAgain]), unless ended says that the pull it was made in came to its end all the same, or its
// record says that it cost one child ([Record.Alone]) and another call was answered since.
func (j *Journal) Recall(id ID, ended bool) (*Record, error) {
	j.mu.Lock()
	a, found := j.answers[id]
	found = found && (ended || !j.again[id])
	if found {
		delete(j.answers, id) // no later call has this identity
		delete(j.failures, id)
		delete(j.again, id)
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.record(a.Place)
}

// MadeAgain returns the failure of call id that is not to be recalled, nil if there is none. What it cost is
// from then on among what was abandoned.
func (j *Journal) MadeAgain(id ID) (*Record, error) {
	j.mu.Lock()
	a, found := j.answers[id]
	if found = found && j.again[id]; found {
		delete(j.answers, id)
		delete(j.failures, id)
		delete(j.again, id)
		j.abandoned = append(j.abandoned, a.Place)
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.record(a.Place)
}

// RecallAbandoned returns what call id cost when it was abandoned, nil if it was not. The caller tells of it
// again, so it is no longer among what [Journal.Earlier] returns.
func (j *Journal) RecallAbandoned(id ID) (*Record, error) {
	j.mu.Lock()
	p, found := j.given[id]
	if found {
		j.shown[p] = true
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.record(p)
}

// RecallAsked returns how a call ended that an evaluation made whose record was recalled: as [Journal.Recall] or
// [Journal.RecallAbandoned] has it, nil if it was recalled before.
func (j *Journal) RecallAsked(a Asked) (*Record, error) {
	id := ID{N: a.N}
	if n, err := hex.Decode(id.Key[:], []byte(a.Key[:min(len(a.Key), 2*len(id.Key))])); err != nil || n < len(id.Key) {
		return nil, fmt.Errorf("journal: %s: an evaluation asked for %q, which is not a key", j.path, a.Key)
	}
	r, err := j.Recall(id, true)
	if r == nil && err == nil {
		return j.RecallAbandoned(id)
	}
	return r, err
}

// RecallEvaluation returns the [Evaluation] or the [Refusal] of id, nil if the file does not say. Where a
// program is asked for more often than before, because a memory above forgot it, that is the last of its key.
func (j *Journal) RecallEvaluation(id ID) (*Record, error) {
	j.mu.Lock()
	p, found := j.last[id.Key]
	if a, exact := j.answers[id]; exact {
		p, found = a.Place, true
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.record(p)
}

func (j *Journal) record(p wal.Place) (*Record, error) {
	r, err := j.at(p)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// Write records something that happened to id: r has the fields of its kind but Key and N. What was paid for
// (a [Completion], a [Failure], an [Abandoned] call) is on disk when Write returns, and all before it. The
// rest is with the operating system: it costs no call to make it again, and what follows from it stands
// after it in the file.
func (j *Journal) Write(id ID, r Record) error {
	r.Key, r.N = id.String(), id.N
	p, err := j.append(&r)
	if err != nil {
		return err
	}
	switch r.Kind {
	case Completion, Failure, Abandoned:
		return j.sync(p)
	case Evaluation, Refusal:
		j.mu.Lock()
		j.last[id.Key] = p
		j.mu.Unlock()
	}
	return nil
}

// WriteProgram records the text of a program, unless the file has it, and returns its key.
func (j *Journal) WriteProgram(text string) (key string, err error) {
	k := KeyOf(text)
	j.mu.Lock()
	known := j.programs[k]
	j.programs[k] = true
	j.mu.Unlock()
	if !known {
		_, err = j.append(&Record{Kind: Program, Key: k.String(), Text: text})
	}
	return k.String(), err
}

// WriteChild records a child of a pull, for whoever reads the file.
func (j *Journal) WriteChild(r Record) error {
	r.Kind = Child
	_, err := j.append(&r)
	return err
}

// readEffect takes an effect of an earlier incarnation in.
func (j *Journal) readEffect(id ID, e effect, alone bool) {
	if old, found := j.answers[id]; found && old.kind == Failure {
		j.abandoned = append(j.abandoned, old.Place) // it was made again
	}
	j.answers[id] = e
	delete(j.failures, id)
	delete(j.again, id)
	delete(j.given, id)
	switch e.kind {
	case Failure:
		if alone {
			j.recent = append(j.recent, id)
		} else {
			j.failures[id] = true
		}
	case Completion:
		j.recent = j.recent[:0] // what is asked for from now on may follow from them
	case Evaluation, Refusal:
		j.last[id.Key] = e.Place
	}
}

// paused takes in that an error ended a run: calls that failed before are made again, as the failures may
// be what the run ended by. Those that cost a child alone are so only if they are the last that happened.
func (f *effects) paused() {
	for id := range f.failures {
		f.again[id] = true
	}
	for _, id := range f.recent {
		f.again[id] = true
	}
}

// unclaimed returns the calls that were answered in earlier incarnations and that this one did not ask for,
// in the order of the file.
func (f *effects) unclaimed() (places []wal.Place) {
	for _, a := range f.answers {
		if a.kind == Completion || a.kind == Failure {
			places = append(places, a.Place)
		}
	}
	slices.SortFunc(places, byOffset)
	return places
}

func byOffset(a, b wal.Place) int { return cmp.Compare(a.Offset, b.Offset) }
