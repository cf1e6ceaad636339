package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/evolve/books"
)

// A Key names what was asked: of a call a hash of the digest of its request ([llm.Request.Digest]) and of the pull or
// the evaluation that it was made for, of an evaluation a hash of the program, its evaluator and the sample.
type Key [sha256.Size]byte

// KeyOf returns the key of parts. The length of each part is hashed with it. Otherwise the parts "ab", "c" and "a",
// "bc" would have one key.
func KeyOf(parts ...string) Key {
	var room [256]byte
	b := room[:0]
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	return sha256.Sum256(b)
}

// named is how many bytes of a key stand in a file. 128 bits do not meet by chance, and most of a record would be
// keys with all 256. Journals of earlier versions have these.
const named = 16

// String returns the first 16 bytes of k in hexadecimal, as files name what has the key.
func (k Key) String() string { return hex.EncodeToString(k[:named]) }

// An ID identifies one effect: what was asked, and how often the same was asked before. Calls that are made at once
// begin in any order, so their order is not part of it. Equal requests of one pull are told apart by N alone. If they
// are under way at once, it is chance which gets which answer.
type ID struct {
	Key
	N int
}

// short returns id as a file tells it from others.
func (id ID) short() ID {
	clear(id.Key[named:])
	return id
}

// parse returns the key that a file names so.
func parse(name string) (k Key, err error) {
	if n, err := hex.Decode(k[:named], []byte(name[:min(len(name), 2*named)])); err != nil || n < named {
		return k, fmt.Errorf("%q is no key", name)
	}
	return k, nil
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

// Recall returns how call or session id ended in an earlier incarnation: a [Completion], a [Failure], a [Refusal] or
// a [Session]. It returns nil if the file does not say. Each can be recalled once.
//
// A failure before a pause by an error may be what the run ended by. It does not stand, and the call is made again:
// [Journal.Earlier] tells what it cost, since the result holds only the call that is made now. There are two
// exceptions, for failures that did not end the run. One is that the pull of the call came to its end all the same,
// which ended says. The other is that the failure cost one child ([Record.Alone]) and another call was answered
// since.
func (j *Journal) Recall(id ID, ended bool) (r *Record, stands bool, err error) {
	id = id.short()
	j.mu.Lock()
	a, found := j.answers[id]
	stands = ended || !a.again
	delete(j.answers, id) // no later call has this identity
	if found && !stands {
		j.abandoned = append(j.abandoned, a.Place)
	}
	j.mu.Unlock()
	if !found {
		return nil, false, nil
	}
	r, err = j.at(a.Place)
	return r, stands, err
}

// RecallAbandoned returns what call id cost when it was abandoned, or nil if it was not. The caller's result holds it
// from then on. So [Journal.Earlier] no longer returns it, or it would count twice.
func (j *Journal) RecallAbandoned(id ID) (*Record, error) {
	j.mu.Lock()
	p, found := j.given[id.short()]
	if i := slices.Index(j.abandoned, p); found && i >= 0 {
		j.abandoned = slices.Delete(j.abandoned, i, i+1)
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
	key, err := parse(a.Key)
	if err != nil {
		return nil, fmt.Errorf("journal: %s: an evaluation's call: %w", j.path, err)
	}
	r, _, err := j.Recall(ID{key, a.N}, true)
	if r == nil && err == nil {
		return j.RecallAbandoned(ID{key, a.N})
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
		p, found = a.Place, ended || !a.again
	}
	j.mu.Unlock()
	if !found {
		return nil, nil
	}
	return j.at(p)
}

// Write records something that happened to id. r has the fields of its kind but Key and N. What was paid for (a
// [Completion], a [Failure], an [Abandoned] call, a [Session]) is on disk when Write returns, and so is all before
// it. The rest is with the operating system. To make it again costs no call. What follows from it stands after it in
// the file, and so cannot be on disk without it.
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

// WriteProgram records the text of a program, unless the file has it, and returns its key. Models repeat themselves,
// and with a text in each evaluation those repeats would be much of the file.
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
	k, err := parse(key)
	j.mu.Lock()
	p, known := j.programs[k]
	j.mu.Unlock()
	if err != nil || !known {
		return "", fmt.Errorf("journal: %s: the file does not have the program %q", j.path, key)
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
