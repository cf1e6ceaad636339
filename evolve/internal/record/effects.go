package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// A Key names what was asked: of a call a hash of the digest of its request ([llm.Request.Digest]) and of the pull or
// the evaluation that it was made for, of an evaluation a hash of the program, its evaluator and the sample.
type Key [sha256.Size]byte

// KeyOf returns the key of parts. The length of each part is hashed with it. Otherwise the parts "ab", "c" and
// "a", "bc" would have one key.
func KeyOf(parts ...string) Key {
	var room [256]byte
	b := room[:0]
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	return sha256.Sum256(b)
}

// String returns the first 16 bytes of k in hexadecimal, as files name what has the key.
func (k Key) String() string { return hex.EncodeToString(k[:named]) }

// named is how many bytes of a key stand in a file. 128 bits do not meet by chance, and most of a record would be keys
// with all 256. Journals of earlier versions have these.
const named = 16

// short returns id as a file tells it from others.
func (id ID) short() ID {
	clear(id.Key[named:])
	return id
}

// An ID identifies one effect: what was asked, and how often the same was asked before. Calls that are made at once
// begin in any order, so their order is not part of it. Equal requests of one pull are told apart by N alone. If
// they are under way at once, it is chance which gets which answer.
type ID struct {
	Key
	N int
}

// An effect is where the end of a call or an evaluation stands.
type effect struct {
	wal.Place
	kind Kind
}

// effects are the answers that the file holds, and which of them this incarnation asked for. They are places in
// the file and not replies, because the replies of a long run need not fit in memory.
type effects struct {
	answers  map[ID]effect     // those of calls are dropped when they are recalled, and what is left is unclaimed
	last     map[Key]wal.Place // of evaluations, tunings and refusals, the last of each key
	failures map[ID]bool       // answers that are failures
	recent   []ID              // those that cost a child alone or an evaluation, and after which no call was answered
	again    map[ID]bool       // failures and lost evaluations to be made again, after a pause by an error
	given    map[ID]wal.Place  // calls that were abandoned, and not answered later
	claimed  map[Key]int       // occurrences handed out in this incarnation
	programs map[Key]wal.Place // where their texts are
	children map[ID]wal.Place  // the last Child record of each call
}

func newEffects() effects {
	return effects{
		answers:  make(map[ID]effect),
		last:     make(map[Key]wal.Place),
		failures: make(map[ID]bool),
		again:    make(map[ID]bool),
		given:    make(map[ID]wal.Place),
		claimed:  make(map[Key]int),
		programs: make(map[Key]wal.Place),
		children: make(map[ID]wal.Place),
	}
}

// Claim returns the identity of the next call or evaluation that asks for key. Each incarnation counts from 0, so
// that the n-th time it asks for something it gets what was answered the n-th time before.
func (j *Journal) Claim(key Key) ID {
	j.mu.Lock()
	defer j.mu.Unlock()
	short := ID{key, 0}.short().Key
	n := j.claimed[short]
	j.claimed[short] = n + 1
	return ID{key, n}
}

// Recall returns how call or session id ended in an earlier incarnation: a [Completion], a [Failure], a [Refusal] or a
// [Session]. It returns nil if the file does not say. Each can be recalled once.
//
// A failure before a pause by an error is not recalled, because it may be what the run ended by. The call is made
// again ([Journal.MadeAgain]). There are two exceptions, for failures that did not end the run. One is that the
// pull of the call came to its end all the same, which ended says. The other is that the failure cost one child
// ([Record.Alone]) and another call was answered since.
func (j *Journal) Recall(id ID, ended bool) (r *Record, stands bool, err error) {
	id = id.short()
	j.mu.Lock()
	a, found := j.answers[id]
	stands = ended || !j.again[id]
	if found {
		delete(j.answers, id) // no later call has this identity
		delete(j.failures, id)
		delete(j.again, id)
	}
	if found && !stands { // the result holds only the call that is made now
		j.abandoned = append(j.abandoned, a.Place)
	}
	j.mu.Unlock()
	if !found {
		return nil, false, nil
	}
	r, err = j.at(a.Place)
	return r, stands, err
}

// RecallAbandoned returns what call id cost when it was abandoned, or nil if it was not. The caller's result
// holds it from then on. So [Journal.Earlier] no longer returns it, or it would count twice.
func (j *Journal) RecallAbandoned(id ID) (*Record, error) {
	id = id.short()
	j.mu.Lock()
	p, found := j.given[id]
	if found {
		j.shown[p] = true
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.at(p)
}

// RecallAsked returns how a call ended that was made by an evaluation whose record was recalled. It is what
// [Journal.Recall] or [Journal.RecallAbandoned] returns, and nil if the call was recalled before.
func (j *Journal) RecallAsked(a Asked) (*Record, error) {
	id := ID{N: a.N}
	if n, err := hex.Decode(id.Key[:named], []byte(a.Key[:min(len(a.Key), 2*named)])); err != nil || n < named {
		return nil, fmt.Errorf("journal: %s: an evaluation asked for %q, which is not a key", j.path, a.Key)
	}
	r, _, err := j.Recall(id, true)
	if r == nil && err == nil {
		return j.RecallAbandoned(id)
	}
	return r, err
}

// RecallEvaluation returns the [Evaluation], the [Tuning] or the [Refusal] of id, or nil if the file does not say. A
// program may be asked for more often than before, because the caller's memory of results forgot it. Then the last
// record of its key is returned, so that it is not evaluated again. It can be recalled any number of times.
//
// An evaluation that a failed call cost is made again after a pause by an error, under the same conditions as the
// failure of a child's own call (see [Journal.Recall]): it may be what the run ended by.
func (j *Journal) RecallEvaluation(id ID, ended bool) (*Record, error) {
	id = id.short()
	j.mu.Lock()
	p, found := j.last[id.Key]
	if a, exact := j.answers[id]; exact {
		p, found = a.Place, ended || !j.again[id]
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.at(p)
}

// Write records something that happened to id. r has the fields of its kind but Key and N. What was paid for (a
// [Completion], a [Failure], an [Abandoned] call, a [Session]) is on disk when Write returns, and so is all before it.
// The rest is with the operating system. To make it again costs no call. What follows from it stands after it in the
// file, and so cannot be on disk without it.
func (j *Journal) Write(id ID, r Record) error {
	r.Key, r.N = id.String(), id.N
	p, err := j.append(&r)
	if err != nil {
		return err
	}
	switch r.Kind {
	case Completion, Failure, Abandoned, Session:
		return j.sync(p)
	case Evaluation, Tuning, Refusal:
		j.mu.Lock()
		j.last[id.short().Key] = p
		j.mu.Unlock()
	}
	return nil
}

// WriteProgram records the text of a program, unless the file has it, and returns its key. Models repeat
// themselves, and with a text in each evaluation those repeats would be much of the file.
func (j *Journal) WriteProgram(text string) (key string, err error) {
	k := ID{KeyOf(text), 0}.short().Key
	j.mu.Lock()
	_, known := j.programs[k] // two that write it at once both do: what names it must stand after its text
	j.mu.Unlock()
	if !known {
		p, err := j.append(&Record{Kind: Program, Key: k.String(), Text: text})
		if err != nil {
			return "", err
		}
		j.mu.Lock()
		j.programs[k] = p
		j.mu.Unlock()
	}
	return k.String(), nil
}

// ProgramText returns the text of the program that an earlier incarnation recorded under key.
func (j *Journal) ProgramText(key string) (string, error) {
	var k Key
	if b, err := hex.DecodeString(key); err != nil || copy(k[:named], b) != len(b) {
		return "", fmt.Errorf("journal: %s: %q is no key of a program", j.path, key)
	}
	j.mu.Lock()
	p, known := j.programs[k]
	j.mu.Unlock()
	if !known {
		return "", fmt.Errorf("journal: %s: the file does not have the program %s", j.path, key)
	}
	r, err := j.at(p)
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// ReadAs returns the program that an earlier incarnation read out of the reply to a child's call, "" for none. It
// reports false if the file does not say.
func (j *Journal) ReadAs(id ID) (program string, known bool, err error) {
	j.mu.Lock()
	p, found := j.children[id.short()]
	j.mu.Unlock()
	if !found {
		return "", false, nil
	}
	r, err := j.at(p)
	if err != nil || r.Program == "" {
		return "", err == nil && r.State == books.StateUnparsed, err
	}
	program, err = j.ProgramText(r.Program)
	return program, err == nil, err
}

// Tell records a [Child] or a [Start], for readers of the file, and for [Journal.ReadAs]. If a run that was cut short
// makes a child again, there are two records of it, and the last one tells how the run went on.
func (j *Journal) Tell(r Record) error {
	if err := j.Err(); err != nil {
		return err
	}
	_, err := j.append(&r)
	return err
}

// readEffect takes in an effect of an earlier incarnation. A later one of the same identity replaces it.
// alone says of a failure that it cost one child, and of a refusal that a failed call did.
func (j *Journal) readEffect(id ID, e effect, alone bool) {
	if old, found := j.answers[id]; found && old.kind == Failure {
		j.abandoned = append(j.abandoned, old.Place) // it was made again, and both were paid for
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
	case Evaluation, Tuning, Refusal:
		j.last[id.Key] = e.Place
		if alone {
			j.recent = append(j.recent, id)
		}
	}
}

// paused takes in that an error ended a run. Calls that failed before that are made again, because one of the
// failures may be that error. Recalled, it would end every incarnation from then on. A failure that cost a child
// alone is made again only if no call was answered after it: what was asked since may follow from it.
func (f *effects) paused() {
	for id := range f.failures {
		f.again[id] = true
	}
	for _, id := range f.recent {
		if kind := f.answers[id].kind; kind == Failure || kind == Refusal { // and was not made again since
			f.again[id] = true
		}
	}
}

// unasked returns where the answers of these kinds stand that earlier incarnations got and this one did not ask
// for, in the order of the file: the order of a map would give another result each time.
func (f *effects) unasked(kinds ...Kind) (places []wal.Place) {
	for id, a := range f.answers {
		// An evaluation stays among the answers when it is recalled, as it may be asked for again.
		if slices.Contains(kinds, a.kind) && (a.kind != Evaluation && a.kind != Tuning || id.N >= f.claimed[id.Key]) {
			places = append(places, a.Place)
		}
	}
	slices.SortFunc(places, byOffset)
	return places
}

func byOffset(a, b wal.Place) int { return cmp.Compare(a.Offset, b.Offset) }
