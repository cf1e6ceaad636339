package nats

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/runtest"
)

var update = flag.Bool("update", false, "write the answers into the scripts")

// Each script in testdata holds events and what a table makes of the last of a paragraph. Evaluations have names, and
// jobs are named by their programs. The run may have two jobs in flight, waits 5 s for the first worker and 10 min for
// one to come back.
//
//	ann joins a                          an evaluation asks for a job
//	ann leaves
//	posted a queued|unchanged|unknown    how a post ended
//	canceled a
//	result a [tries=2] [recalled]        a worker's result came, or was found at the server
//	begun a
//	failed a on W [of KEY]               the evaluator of a worker failed; its NKey is KEY, or W's own
//	here W [of KEY] [slots=2] [busy=1]   a worker says that it is there
//	other DIGEST                         a worker of another version does
//	wait 10s
//	advise                               what must the run know?
//	sleep 1h                             the process is stopped, and then asks what it must know
//	overdue                              which jobs are to be posted again?
//	recheck                              the connection was lost
//	close                                nothing can succeed any more
//	stats
func TestTable(t *testing.T) {
	runtest.CheckScripts(t, "testdata/*.txt", *update, func(t *testing.T) func([]string) string {
		s := &session{t: t, table: newTable(), now: time.Unix(1e9, 0), waits: map[string]*evaluation{}}
		return func(events []string) string {
			var told []string
			for _, event := range events {
				told = s.do(event)
			}
			return cmp.Or(strings.Join(told, "\n"), "ok")
		}
	})
}

// A session is a table and the evaluations of a script.
type session struct {
	t     *testing.T
	table *table
	now   time.Time
	names []string // of evaluations, in the order in which they joined
	waits map[string]*evaluation
}

type evaluation struct {
	*demand
	began, done bool // whether the script was told
}

// do takes in one event, and returns what comes of it.
func (s *session) do(event string) []string {
	w := append(strings.Fields(event), "", "", "", "")
	number := func(name string, otherwise int) int {
		for _, word := range w {
			if text, is := strings.CutPrefix(word, name+"="); is {
				n, err := strconv.Atoi(text)
				if err != nil {
					s.t.Fatalf("%s: %v", event, err)
				}
				return n
			}
		}
		return otherwise
	}
	from := func(w []string) sender {
		if w[1] == "of" {
			return sender{w[2], w[0]}
		}
		return sender{w[0], w[0]}
	}
	var next request
	var told []string
	switch {
	case w[1] == "joins":
		next = s.join(w[0], w[2])
	case w[1] == "leaves":
		next = s.table.leave(s.waits[w[0]].demand)
		delete(s.waits, w[0])
	case w[0] == "posted":
		how, known := map[string]postStatus{"queued": isQueued, "unchanged": unchanged, "unknown": unknown}[w[2]]
		if !known {
			s.t.Fatalf("%s: what is %q?", event, w[2])
		}
		next = s.table.posted(w[1], how, s.now)
	case w[0] == "canceled":
		next = s.table.canceled(w[1], s.now)
	case w[0] == "result":
		s.table.arrived(record{Key: w[1], Tries: number("tries", 1)}, slices.Contains(w, "recalled"))
	case w[0] == "begun":
		s.table.begun(w[1])
	case w[0] == "failed":
		s.table.failed(w[1], from(w[3:]), "no interpreter")
	case w[0] == "here":
		s.table.heard(from(w[1:]), workerState{number("slots", 1), number("busy", 0), s.now})
	case w[0] == "other":
		s.table.heardOther(w[1], s.now)
	case w[0] == "wait":
		d, err := time.ParseDuration(w[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(d)
	case w[0] == "advise":
		told = s.advise(s.now)
	case w[0] == "sleep":
		d, err := time.ParseDuration(w[1])
		if err != nil {
			s.t.Fatal(err)
		}
		last := s.now
		s.now = s.now.Add(d)
		told = s.advise(last)
	case w[0] == "overdue":
		for _, j := range s.table.overdue(s.now) {
			told = append(told, "post "+j.Key)
		}
		slices.Sort(told)
	case w[0] == "recheck":
		s.table.recheck()
	case w[0] == "close":
		s.table.close(errors.New("closed"))
	case w[0] == "stats":
		told = []string{fmt.Sprintf("%+v, idle %v", s.table.snapshot(), s.table.idle())}
	default:
		s.t.Fatalf("what is %q?", event)
	}
	if next != nothing {
		told = append(told, string(next))
	}
	return append(told, s.heard()...)
}

func (s *session) join(name, key string) request {
	d, next, err := s.table.join(job{Key: key}, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.names, s.waits[name] = append(s.names, name), &evaluation{demand: d}
	return next
}

// heard returns what evaluations hear for the first time.
func (s *session) heard() (told []string) {
	for _, name := range s.names {
		w, waits := s.waits[name]
		if !waits {
			continue
		}
		if !w.began && isClosed(w.demand.began) {
			w.began, told = true, append(told, name+" begins")
		}
		if !w.done && isClosed(w.demand.done) {
			how := " has a result"
			if w.err != nil {
				how = " fails: " + w.err.Error()
			}
			w.done, told = true, append(told, name+how)
		}
	}
	return told
}

// advise returns what the run must know that last asked at a time.
func (s *session) advise(last time.Time) (told []string) {
	a := s.table.adviseSince(Config{InFlight: 2, Unserved: 5 * time.Second, Gone: 10 * time.Minute}, last, s.now)
	if a.hopeless {
		told = append(told, fmt.Sprint("hopeless; other versions: ", s.table.others()))
	}
	if a.waiting > 0 {
		told = append(told, fmt.Sprintf("%d jobs wait without workers", a.waiting))
	}
	if a.idleSlots > 0 {
		told = append(told, fmt.Sprintf("some of %d slots are idle", a.idleSlots))
	}
	return told
}
