package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/task"
)

// OpenJournal makes the journal of a run, or goes on with it, and puts it around the task and the
// model of s. What an earlier run left under the same names gets other names, or is refused. So is a run
// whose initial program is invalid, which leaves everything as it was. decides is what decides the run
// beside what s and o hold.
func (o *Options) OpenJournal(ctx context.Context, s *Setup, saver Saver, decides journal.Fingerprint) (*journal.Journal, error) {
	path := o.Journal
	if path == "" {
		path = saver.base() + ".journal"
	}
	move, err := o.makeRoom(path, saver)
	if err != nil {
		return nil, err
	}
	if move != nil { // it begins
		if err := s.tryInitial(ctx); err != nil {
			return nil, err
		}
		if err := move(); err != nil {
			return nil, err
		}
	}
	fp := journal.Fingerprint{
		"runtime":                o.Runtime,
		"task":                   fmt.Sprintf("%s, programs and prompt %s", s.Task.Name(), fingerprint(s.Task)),
		"limit of an evaluation": o.EvalTimeout.String(),
		"model":                  s.Model.String(),
		"T":                      fmt.Sprint(o.T),
		"N":                      fmt.Sprint(o.N),
	}
	if e := evaluatorOf(s.Task); e != "" {
		fp["evaluator"] = e
	}
	for name, value := range decides {
		fp[name] = value
	}
	j, err := journal.Open(path, journal.Config{Fingerprint: fp, Resume: o.Resume})
	if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
		return nil, &UsageError{err}
	}
	if errors.Is(err, journal.ErrDiverged) {
		return nil, Usagef("%w; %s", err, o.otherFlags())
	}
	if err != nil {
		return nil, locked(path, err)
	}
	switch lost := j.Lost(); {
	case j.Finished() && o.given["max-stalls"]:
		Printf("%s tells of a finished run; nothing is asked of the model unless stalls ended it and --max-stalls is larger now\n", path)
	case j.Finished():
		Printf("%s tells of a finished run; nothing is asked of the model\n", path)
	case lost > 0:
		Printf("%d calls were under way when the run was killed: they may have been paid for, and are made again\n", lost)
	}
	return j, nil
}

// fingerprint is a hash of what t asks of the model for its initial program.
func fingerprint(t task.Task) string {
	h := sha256.New()
	fmt.Fprintln(h, t.Initial())
	for _, m := range t.Prompt(task.Ask{}) {
		fmt.Fprintln(h, m.Role, m.Content)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// evaluatorOf returns the fingerprint of what scores t's programs, "" if t does not say.
func evaluatorOf(t task.Task) string {
	if f, ok := task.As[interface{ Fingerprint() string }](t); ok {
		return f.Fingerprint()
	}
	return ""
}
