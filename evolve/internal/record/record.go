package record

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// A Kind says what a record is about.
type Kind string

// The kinds of records. The comments of the fields of Record say which kinds have them.
const (
	Header      Kind = "header"      // first in the file: version and fingerprint
	Incarnation Kind = "incarnation" // a process opened the file

	Begin      Kind = "begin"      // an attempt at a call is about to be sent
	Tried      Kind = "tried"      // an attempt ended, and the call goes on
	Completion Kind = "completion" // a call brought a reply
	Failure    Kind = "failure"    // a call ended in an error that stands, unless an error then ended the run
	Abandoned  Kind = "abandoned"  // a call was canceled as the run ended, and is made again when it goes on
	Refusal    Kind = "refusal"    // the budget had no room for a call or an evaluation
	Program    Kind = "program"    // the text of a program, once
	Evaluation Kind = "evaluation" // what a program scored
	Tuning     Kind = "tuning"     // what a program scored for a tuner; the file does not have its text
	// how a session that makes a child ended, by its program or its error, or a text that it remembers
	Session Kind = "session"
	Child   Kind = "child" // a child and what became of it; replay reads its program alone
	Taken   Kind = "taken" // which child of a pull was taken in next, where that is not by index

	Run    Kind = "run"    // what the run was given
	Start  Kind = "start"  // what an arm begins with; replay does not read it
	Draw   Kind = "draw"   // a pull was drawn
	Report Kind = "report" // its reward was reported
	Stop   Kind = "stop"   // the run is over
	Raise  Kind = "raise"  // it goes on, with a larger limit in place of the one that ended it
	Pause  Kind = "pause"  // it ended, and can go on
)

// decision reports whether replay makes records of this kind again and compares them. A raise is not one: whether a
// limit is raised is decided by whoever starts the run, and not by the run.
func (k Kind) decision() bool { return slices.Contains([]Kind{Run, Draw, Report, Stop}, k) }

// effect reports whether records of this kind say how a call, an evaluation or a session ended.
func (k Kind) effect() bool {
	return slices.Contains([]Kind{Completion, Failure, Refusal, Evaluation, Tuning, Session}, k)
}

// A Record is one line of a journal. Fields that a kind does not have are zero.
//
// Kind, Key, N and Time come first, in this order, because peek reads them without decoding the rest.
type Record struct {
	Index int  `json:"-"` // the line's number, from 0
	Kind  Kind `json:"kind"`
	// of what was asked, in hexadecimal; program: of the text; child: with N, of its call
	Key  string `json:"key,omitempty"`
	N    int    `json:"n,omitempty"` // how often it was asked before
	Time int64  `json:"t"`           // milliseconds since 1970

	Version     int               `json:"version,omitempty"`     // header
	Command     string            `json:"command,omitempty"`     // incarnation: Config.Command
	Library     string            `json:"library,omitempty"`     // incarnation: the version of this module that wrote it
	Fingerprint map[string]string `json:"fingerprint,omitempty"` // header, run, raise
	// begin: what the call is for, if not a child; evaluation: "claim" for a fresh sample of the best
	For   string     `json:"for,omitempty"`
	Reply *llm.Reply `json:"reply,omitempty"` // completion; tried, failure, abandoned: its attempts
	// failure, abandoned, pause; refusal: what the evaluation was lost to, if not to a limit
	Error *llm.ErrorRecord `json:"error,omitempty"`
	Alone bool             `json:"alone,omitempty"` // failure: it cost one child, and the search went on
	// begin, tried, failure, abandoned, completion without usage: the most tokens that the prompt has
	Prompt int `json:"prompt,omitempty"`
	// begin: the request's own cap on new tokens, if it has one
	MaxTokens int           `json:"max_tokens,omitempty"`
	Text      string        `json:"text,omitempty"`    // program; session: what it remembers
	Program   string        `json:"program,omitempty"` // evaluation, child, start, session: the program's key
	Result    *eval.Result  `json:"result,omitempty"`  // evaluation, tuning
	Took      time.Duration `json:"took_ns,omitempty"` // evaluation, tuning
	// the calls that the evaluation or the session made; in earlier versions also the model of the call
	Asked  []Asked  `json:"asked,omitempty"`
	Scored []Scored `json:"scored,omitempty"` // session: the evaluations that it asked for
	Notes  []string `json:"notes,omitempty"`  // session: its transcript

	Models []Model `json:"models,omitempty"` // run: those that its budget names
	Arms   []Arm   `json:"arms,omitempty"`   // run
	// draw, report, child, taken; begin: the one that sends it, -1 before the first
	Pull  *int    `json:"pull,omitempty"`
	Arm   *int    `json:"arm,omitempty"`   // draw, start
	Prob  float64 `json:"prob,omitempty"`  // draw: the propensity
	Calls int     `json:"calls,omitempty"` // draw: how many it was granted
	// draw: how many children the time for evaluations had room for; 0: any number
	Most int `json:"most,omitempty"`
	// draw, stop: how many calls the score of a child was expected to take beside its own
	Asides int `json:"asides,omitempty"`
	Beside int `json:"beside,omitempty"` // draw: how many tune evaluations the other arms had made
	// draw: what a call of each arm was expected to cost, in calls of the cheapest; none if alike
	Costs  []float64 `json:"costs,omitempty"`
	Reward float64   `json:"reward,omitempty"` // report
	// report: how long each step of the pull's search took; a search may decide by it
	Bred  []time.Duration `json:"bred_ns,omitempty"`
	Stop  string          `json:"stop,omitempty"`  // stop, pause
	Limit string          `json:"limit,omitempty"` // stop, raise, refusal, failure, child: what bound
	// run: the limits; draw, report, child, stop, pause: what is spent and reserved
	Ledger *books.Ledger `json:"ledger,omitempty"`

	Child *int `json:"child,omitempty"` // child, taken: its index in the step; taken: or Beyond
	Step  int  `json:"step,omitempty"`  // child: the step of its arm, from 1
	books.Proposal
}

// A Model is a model that a run may ask.
type Model struct {
	Key          string `json:"key"`  // as attempts name it
	Name         string `json:"name"` // what the endpoint calls it
	ActiveParams int64  `json:"active_params,omitempty"`
	Price        *Price `json:"price,omitempty"` // nil if it is not known
}

// A Price is what a million tokens cost, as of llm.Price.
type Price struct {
	Prompt     float64 `json:"prompt"`
	Cached     float64 `json:"cached"`
	Completion float64 `json:"completion"`
}

// An Arm is what a run knows of a search.
type Arm struct {
	Name string  `json:"name"`           // what its String method returns, or its type
	Seed *uint32 `json:"seed,omitempty"` // nil if it does not say
}

// Asked is a call that an evaluation or a session made, or the model of a call that asks others. Replay makes none of
// them again, and finds by it what they paid for.
type Asked struct {
	Kind   string `json:"kind"`   // what it was for
	Key    string `json:"key"`    // with N that of its records
	N      int    `json:"n"`      // how often that was asked before
	Prompt int    `json:"prompt"` // the most tokens that its prompt has
}

// Scored is an evaluation that a session asked for. Replay does not make the session again, and counts by it what it
// evaluated.
type Scored struct {
	Key   string `json:"key"` // whole, in hexadecimal
	Tuned bool   `json:"tuned,omitempty"`
	Apart bool   `json:"apart,omitempty"` // it is not remembered, and counts each time
	None  bool   `json:"none,omitempty"`  // it brought no result: refused, or lost to a failed call
}

// Whole returns the key.
func (s Scored) Whole() (key Key, err error) {
	if b, err := hex.DecodeString(s.Key); err != nil || copy(key[:], b) != len(key) || len(b) != len(key) {
		return key, fmt.Errorf("journal: an evaluation of a session: %q is no whole key", s.Key)
	}
	return key, nil
}

// compare returns an error that says in what the decision now differs from r, which an earlier incarnation made in
// its place.
func (r Record) compare(now Record) error {
	if r.Kind == Run && now.Kind == Run {
		return compare(r.Index, r.Fingerprint, now.Fingerprint)
	}
	if was, is := r.what(), now.what(); was != is {
		return fmt.Errorf("%w: record %d: %s, this run: %s", ErrDiverged, r.Index, was, is)
	}
	return nil
}

// compare returns an error that says in which fields the fingerprint now differs from then, which stands in the
// record of this number.
func compare(record int, then, now map[string]string) error {
	both := maps.Collect(maps.All(then))
	maps.Copy(both, now)
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if then[name] != now[name] {
			fields = append(fields, fmt.Sprintf("%s is %q, this run's %q", name, then[name], now[name]))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("%w: record %d: %s: put that back, or begin anew with another journal",
		ErrDiverged, record, strings.Join(fields, "; "))
}

// what describes a decision in words. Two decisions are equal if their words are. Times and other fields that replay
// cannot repeat are left out.
func (r Record) what() string {
	switch r.Kind {
	case Draw:
		return fmt.Sprintf("pull %d draws arm %d with probability %v for %d calls", *r.Pull, *r.Arm, r.Prob, r.Calls)
	case Report:
		return fmt.Sprintf("pull %d has reward %v", *r.Pull, r.Reward)
	case Stop:
		return fmt.Sprintf("stop by %s %s", r.Stop, r.Limit)
	}
	return string(r.Kind)
}

// likeV1 makes go-json-experiment read what encoding/json wrote: durations are numbers.
var likeV1 = json.JoinOptions(jsonv1.FormatDurationAsNano(true), jsontext.AllowInvalidUTF8(true),
	jsontext.AllowDuplicateNames(true))

// decode reads a record's object. encoding/json takes several times as long.
func decode(object []byte) (*Record, error) {
	var r struct {
		I int `json:"i"`
		Record
	}
	if err := json.Unmarshal(object, &r, likeV1); err != nil {
		return new(Record), fmt.Errorf("journal: a record: %w", err)
	}
	r.Index = r.I
	r.shorten()
	return &r.Record, r.complete()
}

// shorten cuts keys to the length that they have in a file of now, so that those of all files compare.
func (r *Record) shorten() {
	cut := func(key *string) { *key = (*key)[:min(len(*key), 2*named)] }
	cut(&r.Key)
	cut(&r.Program)
	for i := range r.Asked {
		cut(&r.Asked[i].Key)
	}
}

// complete returns an error if the record lacks a field that its kind needs. The checksum of a line does not exclude
// that: a journal may have been written by another version, or by hand.
func (r *Record) complete() error {
	var missing bool
	switch r.Kind {
	case Draw:
		missing = r.Pull == nil || r.Arm == nil
	case Report:
		missing = r.Pull == nil
	case Start:
		missing = r.Arm == nil
	case Child, Taken:
		missing = r.Pull == nil || r.Child == nil
	case Raise:
		missing = r.Fingerprint == nil
	case Evaluation, Tuning:
		missing = r.Result == nil
	case Completion, Failure, Abandoned, Tried:
		missing = r.Reply == nil
	}
	if missing {
		return fmt.Errorf("journal: a %s record lacks a field", r.Kind)
	}
	return nil
}
