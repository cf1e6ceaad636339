package view

import (
	"maps"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A runLog is what a page shows of a run: its history, and the texts of its programs as far as they are kept (see keptText).
// It takes records one at a time, in their order, while a run goes on or from a file.
//
// A runLog is safe for concurrent use. Add is cheap, because it is called where a run waits for it.
type runLog struct {
	id, name string

	mu       sync.Mutex // of all below
	live     bool
	source   func(keys []string) map[string]string // of texts that are not kept; nil for none
	run      *history.Run
	builder  *history.Builder
	bests    map[int]history.Score // of children, by arm
	labels   labels
	meters   meters
	programs programs

	shown shown // what is drawn of programs: it has a lock of its own
}

// newLog returns an empty runLog of the run that pages call id, which is part of addresses, and people call name.
func newLog(id, name string) *runLog {
	l := &runLog{id: id, name: name, builder: history.NewBuilder(), bests: map[int]history.Score{}, labels: newLabels(), programs: newPrograms()}
	l.run = l.builder.Run()
	l.builder.Limits = limitWords
	l.builder.Reply = func(row int, reply string) {
		l.programs.learn(reply)
		l.programs.say(shortKey(l.run.Children[row].Program), row, reply)
	}
	l.shown.diffs = map[[2]string][]lineChange{}
	l.shown.codes = map[string]programText{}
	return l
}

// limitWords say which limit of the budget ended a run.
var limitWords = func() map[string]string {
	words := map[string]string{}
	for _, l := range evolve.Limits() {
		words[l.Name] = l.Ended
	}
	return words
}()

// SetLive says whether a process works on the run now. A journal does not tell a run that goes on from one that was
// killed. A run that is not live and has no end counts as stopped.
func (l *runLog) SetLive(live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = live
}

// Add takes in the next record.
func (l *runLog) Add(r journal.Record) {
	if r.Kind == journal.CaughtUp { // which stands in no file
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Kind == journal.Program:
		l.programs.add(r.Key, r.Text)
	case r.Kind == journal.Start:
		l.programs.pin(shortKey(r.Program))
	}
	row := l.builder.Add(r)
	switch {
	case r.Kind == journal.Draw && len(l.run.Rounds) > 0:
		at := l.run.Rounds[len(l.run.Rounds)-1].Arm
		if _, known := l.bests[at]; !known {
			start := l.run.Arms[at].Start
			l.bests[at] = start.Score
			l.programs.pin(shortKey(start.Program))
		}
	case row >= 0:
		c := &l.run.Children[row]
		if is := (history.Score{Value: c.Score, Valid: c.Valid}); is.Better(l.bests[c.Arm]) {
			l.bests[c.Arm] = is
			l.programs.pin(shortKey(c.Program))
		}
	}
	l.meters.sample(l.run.Clock.Now(), l.spent())
}

// State returns what the page shows, with the children and rounds from the given place on. Its cost grows with what is new
// and with the steps that are under way, and little with the run.
func (l *runLog) State(from rowCursor) runState {
	l.mu.Lock()
	run, ledger := l.builder.Run(), l.builder.Ledger()
	l.number()
	from = rowCursor{min(max(from.Children, 0), len(run.Children)), min(max(from.Rounds, 0), len(run.Rounds))}
	children := l.children(from.Children) // which may number names
	s := runState{
		ID: l.id, Name: l.name, Status: l.status(), Begun: run.Clock.Begun, Now: run.Clock.Last,
		Facts: l.facts(), Command: run.Command, Meters: l.meters.list(l), Flying: run.Flying,
		Arms: armList(run), Labels: l.labels.list(), Best: append([]int{}, run.Best...), Line: l.line(),
		Ledgers: l.ledgers(ledger), Endpoints: endpoints(run), Places: places(run, ledger), Messages: byTime(messages(run.Notes)),
		Programs: map[string]programText{},
	}
	s.From, s.Next = from, rowCursor{l.builder.Settled(), settledRounds(run)}
	s.Children = children
	s.Rounds = rounds(run, s.From.Rounds)
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
