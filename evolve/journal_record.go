package evolve

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// A RecordKind says what a record of a journal tells.
type RecordKind string

// The kinds of records. docs/journal.md describes the fields of each.
const (
	RecordHeader     RecordKind = "header"     // first in the file: version and fingerprint
	RecordLife       RecordKind = "life"       // a process opened the file
	RecordBegin      RecordKind = "begin"      // a call is about to be sent
	RecordCompletion RecordKind = "completion" // it came to a reply, or to an error that stands
	RecordAborted    RecordKind = "aborted"    // it was given up, and will be made again
	RecordRefusal    RecordKind = "refusal"    // the budget had no room for a call or an evaluation
	RecordProgram    RecordKind = "program"    // the text of a program, once
	RecordEvaluation RecordKind = "evaluation" // what a program scored
	RecordRun        RecordKind = "run"        // what Run was given
	RecordDraw       RecordKind = "draw"       // a pull was drawn
	RecordReport     RecordKind = "report"     // its reward was reported
	RecordStop       RecordKind = "stop"       // the run is over
	RecordRaise      RecordKind = "raise"      // it goes on, with a larger limit in place of the one that ended it
	RecordPause      RecordKind = "pause"      // it ended, and can go on
)

// decision reports whether replay makes records of this kind again and compares.
func (k RecordKind) decision() bool {
	switch k {
	case RecordRun, RecordDraw, RecordReport, RecordStop:
		return true
	}
	return false
}

// A Record is one line of a journal. Fields that a kind does not have are zero.
type Record struct {
	Index int        `json:"-"` // the line's number, from 0
	Kind  RecordKind `json:"kind"`
	Key   string     `json:"key,omitempty"` // begin, completion, aborted, refusal, evaluation: what was asked; program: SHA-256 of the text
	N     int        `json:"n,omitempty"`   // which time it was asked, from 0
	Time  int64      `json:"t"`             // milliseconds since 1970

	Version     int              `json:"version,omitempty"`     // header
	Fingerprint Fingerprint      `json:"fingerprint,omitempty"` // header, run, raise
	Reply       *llm.Reply       `json:"reply,omitempty"`       // completion; aborted: its attempts
	Error       *llm.ErrorRecord `json:"error,omitempty"`       // completion, aborted, pause
	Prompt      int              `json:"prompt,omitempty"`      // aborted: the most tokens that the prompt has
	MaxTokens   int              `json:"max_tokens,omitempty"`  // begin: the request's own cap on new tokens, if it has one
	Text        string           `json:"text,omitempty"`        // program
	Program     string           `json:"program,omitempty"`     // evaluation: the program's key
	Result      *eval.Result     `json:"result,omitempty"`      // evaluation
	Took        time.Duration    `json:"took_ns,omitempty"`     // evaluation

	Pull   *int    `json:"pull,omitempty"`   // draw, report
	Arm    *int    `json:"arm,omitempty"`    // draw
	Prob   float64 `json:"prob,omitempty"`   // draw: the propensity
	Calls  int     `json:"calls,omitempty"`  // draw: how many it was given
	Reward float64 `json:"reward,omitempty"` // report
	Stop   Stop    `json:"stop,omitempty"`   // stop, pause
	Limit  string  `json:"limit,omitempty"`  // stop, raise, refusal: what bound
}

// compare reports in what the decision now differs from r, that an earlier life made in its place.
func (r Record) compare(now Record) error {
	if r.Kind == RecordRun && now.Kind == RecordRun {
		return r.Fingerprint.compare(r.Index, now.Fingerprint)
	}
	if was, is := r.what(), now.what(); was != is {
		return fmt.Errorf("%w: record %d: %s, this run: %s", ErrDiverged, r.Index, was, is)
	}
	return nil
}

// what tells a decision in words, so that two can be compared and shown.
func (r Record) what() string {
	switch r.Kind {
	case RecordDraw:
		return fmt.Sprintf("pull %d draws arm %d with probability %v for %d calls", *r.Pull, *r.Arm, r.Prob, r.Calls)
	case RecordReport:
		return fmt.Sprintf("pull %d has reward %v", *r.Pull, r.Reward)
	case RecordStop:
		return fmt.Sprintf("stop by %s %s", r.Stop, r.Limit)
	}
	return string(r.Kind)
}

// decode reads a record's object.
func decode(object []byte) (Record, error) {
	var r struct {
		I int `json:"i"`
		Record
	}
	if err := json.Unmarshal(object, &r); err != nil {
		return Record{}, fmt.Errorf("evolve: a record of the journal: %w", err)
	}
	r.Index = r.I
	if err := r.complete(); err != nil {
		return Record{}, err
	}
	return r.Record, nil
}

// complete reports a field that the record's kind needs and lacks.
func (r Record) complete() error {
	var missing bool
	switch r.Kind {
	case RecordDraw:
		missing = r.Pull == nil || r.Arm == nil
	case RecordReport:
		missing = r.Pull == nil
	case RecordRaise:
		missing = r.Fingerprint == nil
	case RecordEvaluation:
		missing = r.Result == nil
	case RecordCompletion, RecordAborted:
		missing = r.Reply == nil
	}
	if missing {
		return fmt.Errorf("evolve: a %s record of the journal lacks a field", r.Kind)
	}
	return nil
}

// A peeked is what an index needs of a record.
type peeked struct {
	kind RecordKind
	key  [32]byte
	n    int
	time int64
}

// peek reads the beginning of a record as this package writes it, without decoding the rest: an index
// of 100,000 replies should not have to parse their text. It reports false for any other layout.
func peek(object []byte) (p peeked, ok bool) {
	_, rest, ok := bytes.Cut(object, []byte(`,"kind":"`))
	if !ok {
		return p, false
	}
	kind, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return p, false
	}
	p.kind = RecordKind(kind)
	if after, found := bytes.CutPrefix(rest, []byte(`,"key":"`)); found {
		if len(after) < 65 || after[64] != '"' {
			return p, false
		}
		if _, err := hex.Decode(p.key[:], after[:64]); err != nil {
			return p, false
		}
		rest = after[65:]
	}
	n, rest, _ := number(rest, `,"n":`)
	t, _, ok := number(rest, `,"t":`)
	p.n, p.time = int(n), t
	return p, ok
}

// number reads a field that holds an integer, if b begins with its name.
func number(b []byte, name string) (v int64, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(b, []byte(name))
	if !ok {
		return 0, b, false
	}
	end := bytes.IndexAny(after, ",}")
	if end < 0 {
		return 0, b, false
	}
	v, err := strconv.ParseInt(string(after[:end]), 10, 64)
	return v, after[end:], err == nil
}
