package view

import (
	"fmt"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// Observe returns an observer of a run of this process that has no journal, for evolve.Config.Observer. The run is a
// tab of its own, called name. It shows the children and rounds among the events, but not single calls, endpoints and
// evaluations, which only a journal has. For a run with a journal use [Server.Follow].
//
// The observer only appends to a list. It must be used for one run.
func (s *Server) Observe(name string) func(evolve.Event) {
	now := time.Now().UnixMilli()
	s.mu.Lock()
	t := &tab{id: address(fmt.Sprint(len(s.tabs), " ", name), now), begun: now, name: name, used: true}
	t.told = &backlog{records: []record.Record{{Kind: record.Header, Time: now}, {Kind: record.Incarnation, Time: now}}}
	s.tabs = append(s.tabs, t)
	s.mu.Unlock()
	s.news()
	return func(e evolve.Event) {
		select {
		case <-s.done: // the Server is closed
		default:
			t.told.add(e)
			s.news()
		}
	}
}

// A backlog holds the records of an observer that no log has yet.
type backlog struct {
	mu      sync.Mutex
	begun   bool
	records []record.Record
}

// add appends the records that a journal would have of an event.
func (t *backlog) add(e evolve.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		t.begun = true
		t.append(e, record.Record{Kind: record.Run})
	}
	c, pull := e.Child, e.Pull
	switch e.Kind {
	case evolve.EventDraw:
		t.append(e, record.Record{Kind: record.Draw, Pull: &pull.ID, Arm: &pull.Arm, Prob: pull.Prob, Calls: pull.Calls})
	case evolve.EventChild:
		if c.HasProgram() {
			t.append(e, record.Record{Kind: record.Program, Key: c.Hash, Text: c.Program})
		}
		t.append(e,
			record.Record{Kind: record.Child, Pull: &pull.ID, Child: &c.Index, Step: e.Generation.Index, Program: c.Hash,
				Proposal: c.Proposal()})
	case evolve.EventGeneration:
		t.start(e)
		if !e.Generation.Partial {
			t.append(e, record.Record{Kind: record.Report, Pull: &pull.ID, Reward: e.Reward})
		}
	case evolve.EventStop:
		kind := record.Stop
		if e.Stop == evolve.StopCanceled || e.Stop == evolve.StopError {
			kind = record.Pause
		}
		t.append(e, record.Record{Kind: kind, Stop: string(e.Stop)})
	}
}

// start appends what a search began with, which its first generation tells.
func (t *backlog) start(e evolve.Event) {
	is := e.Generation.Before
	if e.Generation.Index != 1 || is.Program == "" {
		return
	}
	key := record.KeyOf(is.Program).String()
	t.append(e, record.Record{Kind: record.Program, Key: key, Text: is.Program})
	arm := e.Pull.Arm
	r := record.Record{Kind: record.Start, Arm: &arm, Program: key}
	r.Score, r.Valid, r.Reason = is.Result.Score, is.Result.Valid, is.Result.Reason
	t.append(e, r)
}

// append appends a record with the current time and spending.
func (t *backlog) append(e evolve.Event, r record.Record) {
	ledger := e.Ledger
	r.Time, r.Ledger = time.Now().UnixMilli(), &ledger
	t.records = append(t.records, r)
}

// take moves the backlog to log.
func (t *backlog) take(log *runLog) {
	t.mu.Lock()
	records := t.records
	t.records = nil
	t.mu.Unlock()
	for _, r := range records {
		log.Add(r)
	}
}
