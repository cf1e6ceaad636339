package view

import (
	"maps"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A runLog turns the records of a journal into what the page shows. It takes records one at a time, in their order, while
// a run goes on or from a file, and keeps what the page needs and not the records: 40,000 children of 2 kB each take
// some tens of MB, most of them programs (see keptText).
//
// A file with several runs is one history, in which each run's searches come after those of the runs before it. A run
// that was killed and went on is one history as well, without the time in which no process ran.
//
// A runLog is safe for concurrent use. Add is cheap, because it is called where a run waits for it.
type runLog struct {
	id, name string

	mu       sync.Mutex // of all below
	live     bool
	source   func(keys []string) map[string]string // of texts that are not kept; nil for none
	config   settings
	clock    clock
	calls    calls
	arms     []arm
	pulls    map[int]*pull // of the run read last, by number
	labels   labels
	rows     rows
	rounds   rounds
	ledgers  ledgers
	servers  servers
	meters   meters
	places   places
	end      ending
	notes    notes
	programs programs

	shown shown // what is drawn of programs: it has a lock of its own
}

// newLog returns an empty runLog of the run that pages call id, which is part of addresses, and people call name.
func newLog(id, name string) *runLog {
	l := &runLog{id: id, name: name, pulls: map[int]*pull{}, labels: newLabels(), calls: newCalls(), ledgers: newLedgers(),
		servers: newServers(), places: newPlaces(), notes: newNotes(), programs: newPrograms(), rows: newRows()}
	l.shown.diffs = map[[2]string][]lineChange{}
	l.shown.codes = map[string]programText{}
	return l
}

// SetLive says whether a process works on the run now. A journal does not tell a run that goes on from one that was
// killed. A run that is not live and has no end counts as stopped.
func (l *runLog) SetLive(live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = live
}

// Add takes in the next record. Records of kinds that the page does not show are passed over, so that a page can be
// made of a newer version's journal.
func (l *runLog) Add(r journal.Record) {
	if r.Kind == journal.CaughtUp { // which stands in no file
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Kind == journal.Incarnation {
		l.incarnation(r)
	}
	l.clock.read(r.Time)
	r = numbers(r)
	switch r.Kind {
	case journal.Header:
		l.config.header = r.Fingerprint
	case journal.Run:
		l.run(r)
	case journal.Raise:
		l.config.run = r.Fingerprint
		l.end = ending{}
		l.notes.add(l.clock.now(), "raise", "went on with a larger limit of "+r.Limit)
	case journal.Stop:
		l.stop(r)
	case journal.Pause:
		l.pause(r)
	case journal.Program:
		l.programs.add(r.Key, r.Text)
	case journal.Evaluation:
		l.evaluation(r)
	case journal.Tuning:
		l.meters.tuned++
	case journal.Begin, journal.Tried, journal.Completion, journal.Failure, journal.Abandoned, journal.Refusal:
		l.call(r)
	case journal.Start:
		l.start(r)
	case journal.Draw:
		l.draw(r)
	case journal.Child:
		l.child(r)
	case journal.Report:
		l.report(r)
	}
	if r.Ledger != nil {
		l.meters.told = r.Ledger
	}
	l.meters.sample(l.clock.now(), l.spent())
}

// numbers returns a record with finite numbers alone, as JSON has no others. An observer may tell of some.
func numbers(r journal.Record) journal.Record {
	r.Reward, r.Prob = finite(r.Reward), finite(r.Prob)
	if r.Score != finite(r.Score) {
		r.Score, r.Valid = 0, false
		if r.State == journal.StateValid {
			r.State = journal.StateInvalid
		}
	}
	return r
}

// State returns what the page shows, with the children and rounds from the given place on. Its cost grows with what
// is new and not with the run.
func (l *runLog) State(from rowCursor) runState {
	l.mu.Lock()
	s := runState{
		ID: l.id, Name: l.name, Status: l.status(), Begun: l.clock.begun, Now: l.clock.last,
		Facts: l.facts(), Command: l.config.repeat, Meters: l.meters.list(l), Flying: l.calls.flying(),
		Arms: l.armList(), Labels: l.labels.list(), Best: l.rows.top(), Line: l.line(),
		Ledgers: l.ledgerList(), Endpoints: l.servers.list(), Places: l.placeList(), Messages: l.notes.list(),
		Programs: map[string]programText{},
	}
	s.From = rowCursor{min(max(from.Children, 0), l.rows.len()), l.rounds.from(from.Rounds)}
	s.Next = rowCursor{l.settled(), l.rounds.settled()}
	s.Children = l.rows.since(s.From.Children)
	s.Rounds = l.rounds.since(s.From.Rounds)
	l.mu.Unlock()
	l.fillLine(s.Line)
	return s
}

// Program returns the text of a program that the page knows by key, coloured. It returns false if no program of the
// run has that key, or its text is neither kept (see keptText) nor in the Source.
func (l *runLog) Program(key string) (programText, bool) {
	text, ok := l.texts([]string{key})[key]
	if !ok {
		return programText{}, false
	}
	return l.coloured(key, text), true
}

// coloured returns the text of a program with its colours.
func (l *runLog) coloured(key, text string) programText {
	l.mu.Lock()
	language := l.programs.language
	l.mu.Unlock()
	return l.shown.code(key, text, language)
}

// Diff returns how the program with key to differs from the one with key from; nil if the text of one of them is not
// known.
func (l *runLog) Diff(from, to string) []lineChange {
	return l.shown.diff(from, to, l.texts([]string{from, to}))
}

// texts returns the texts of programs by key, as far as they are known. All that are not kept are asked of the source at
// once, as it may read a whole journal for them, but not more than keptText.
func (l *runLog) texts(keys []string) map[string]string {
	texts := make(map[string]string, len(keys))
	var missing []string
	room := keptText
	l.mu.Lock()
	for _, key := range keys {
		switch p := l.programs.all[key]; {
		case p.have:
			texts[key] = p.text
		case p.told && p.size <= room:
			room -= p.size
			missing = append(missing, key)
		}
	}
	source := l.source
	l.mu.Unlock()
	if source != nil && len(missing) > 0 {
		maps.Copy(texts, source(missing))
	}
	return texts
}

// SetSource says where the texts come from that the runLog does not keep (see keptText), such as journalTexts of the journal: by
// key, without those that are not there. It is called without a lock held, and may take its time.
func (l *runLog) SetSource(source func(keys []string) map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.source = source
}

// journalTexts returns a source of the programs of the journal at path. It reads the file once each time it is called.
func journalTexts(path string) func(keys []string) map[string]string {
	return func(keys []string) map[string]string {
		wanted := make(map[string]bool, len(keys))
		for _, key := range keys {
			wanted[key] = true
		}
		texts := make(map[string]string, len(keys))
		for r, err := range journal.Read(path) {
			if err != nil {
				break
			}
			if key := shortKey(r.Key); r.Kind == journal.Program && wanted[key] {
				texts[key] = strings.ToValidUTF8(r.Text, "\uFFFD")
			}
			if len(texts) == len(wanted) {
				break
			}
		}
		return texts
	}
}
