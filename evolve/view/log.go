package view

import (
	"maps"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// A runLog is the data of a run for a page: its history, and the texts of its programs as far as they are kept (see
// keptText). It takes records one at a time, in order, from a live run or from a file.
//
// A runLog is safe for concurrent use. Add is cheap, because a run waits for it.
type runLog struct {
	id, name string

	mu       sync.Mutex // of all below
	live     bool
	source   func(keys []string) map[string]string // returns texts that are not kept; nil if there is none
	run      *history.Run
	add      func(record.Record) (row int) // takes in the next record of run
	bests    map[int]history.Score         // best scores of children, by arm
	labels   labels
	meters   meters
	programs programs

	shown shown // has a lock of its own
}

// newLog returns an empty runLog. id identifies the run in addresses, name is for people.
func newLog(id, name string) *runLog {
	l := &runLog{id: id, name: name, bests: map[int]history.Score{}, labels: newLabels(), programs: newPrograms()}
	l.run, l.add = history.New(limitWords, func(row int, reply string) {
		l.programs.learn(reply)
		l.programs.say(shortKey(l.run.Children[row].Program), row, reply)
	})
	l.shown.diffs = map[[2]string][]lineChange{}
	l.shown.codes = map[string]programText{}
	return l
}

// limitWords are the words for the limits that can end a run.
var limitWords = func() map[string]string {
	words := map[string]string{}
	for _, l := range evolve.Limits() {
		words[l.Name] = l.Ended
	}
	return words
}()

// SetLive sets whether a process works on the run now, which a journal cannot tell. A run that is not live and has no
// end counts as stopped.
func (l *runLog) SetLive(live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = live
}

// Add takes in the next record.
func (l *runLog) Add(r record.Record) {
	if r.Kind == record.CaughtUp { // which is in no file
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Kind == record.Program:
		l.programs.add(r.Key, r.Text)
	case r.Kind == record.Start:
		l.programs.pin(shortKey(r.Program))
	}
	row := l.add(r)
	switch {
	case r.Kind == record.Draw && len(l.run.Rounds) > 0:
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

// State returns the page's data, with the children and rounds from the given rows on. Its cost grows with the new rows
// and the steps under way, and hardly with the length of the run.
func (l *runLog) State(from rowCursor) runState {
	l.mu.Lock()
	run := l.run
	l.number()
	from = rowCursor{min(max(from.Children, 0), len(run.Children)), min(max(from.Rounds, 0), len(run.Rounds))}
	children := l.children(from.Children) // may number names
	s := runState{
		ID: l.id, Name: l.name, Status: l.status(), Begun: run.Clock.Begun, Now: run.Clock.Last,
		Facts: l.facts(), Command: run.Command, Meters: l.meters.list(l), Flying: run.Flying,
		Arms: armList(run), Labels: l.labels.list(), Best: append([]int{}, run.Best...), Line: l.line(),
		Ledgers: l.ledgers(run.Totals()), Endpoints: endpoints(run),
		Messages: byTime(messages(run.Notes)),
		Programs: map[string]programText{},
	}
	s.From, s.Next = from, rowCursor{run.Settled(), settledRounds(run)}
	s.Children = children
	s.Rounds = rounds(run, s.From.Rounds)
	l.mu.Unlock()
	l.fillLine(s.Line)
	if last := len(s.Line) - 1; last >= 0 && l.isTree(s.Line[last].Program) {
		s.Tree, s.Change = true, l.Diff(baseKey, s.Line[last].Program)
	}
	return s
}

// Program returns the coloured text of the program with key. It returns false if the run has no such program, or if its
// text is neither kept (see keptText) nor in the source.
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

// Diff returns the changes from the program with key from to the one with key to, or nil if one of the texts is
// unknown. The key of a tree's base is baseKey.
func (l *runLog) Diff(from, to string) []lineChange {
	texts := l.texts([]string{from, to})
	if from == baseKey {
		if empty, ok := emptyPatch(texts[to]); ok {
			texts[from] = empty
		}
	}
	return l.shown.diff(from, to, texts)
}

// isTree reports whether the program with key is a change of a base. Of those whose texts are not kept it is not known.
func (l *runLog) isTree(key string) bool {
	l.mu.Lock()
	text := l.programs.all[key].text
	l.mu.Unlock()
	_, ok := emptyPatch(text)
	return ok
}

// texts returns the known texts of programs, by key. It asks the source for all others at once, since that may read a
// whole journal, but for at most keptText bytes.
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

// SetSource sets the source of texts that the runLog does not keep (see keptText), such as journalTexts. source returns
// texts by key, without missing ones. It is called without a lock held, and may be slow.
func (l *runLog) SetSource(source func(keys []string) map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.source = source
}

// journalTexts returns a source of the programs of the journal at path. Each call of the source reads the file once.
func journalTexts(path string) func(keys []string) map[string]string {
	return func(keys []string) map[string]string {
		wanted := make(map[string]bool, len(keys))
		for _, key := range keys {
			wanted[key] = true
		}
		texts := make(map[string]string, len(keys))
		for r, err := range record.Read(path) {
			if err != nil {
				break
			}
			if key := shortKey(r.Key); r.Kind == record.Program && wanted[key] {
				texts[key] = strings.ToValidUTF8(r.Text, "\uFFFD")
			}
			if len(texts) == len(wanted) {
				break
			}
		}
		return texts
	}
}
