package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Files are those of a run: its journal, its result and its best program.
type Files struct {
	Journal *journal.Journal // nil if the flags say that there is none
	Page    *Page            // on which the run is watched; nil without --watch

	saver saver
	o     *Options
	task  task.Task
	run   string    // a hash of what decides the run
	begun bool      // the run is this process's, not one that it goes on with
	moved []renamed // what an earlier run left under these names
}

// Open makes or resumes the journal of a run of t, whose result goes to path under --output. Files of an earlier run
// under the same names are renamed, or Open fails. decides is what decides the run beside t and the common flags.
func (o *Options) Open(path string, t task.Task, decides journal.Fingerprint) (*Files, error) {
	o.folder.say(o.Task)
	o.letIn.say()
	s, err := newSaver(o.Output, path, t)
	if err != nil {
		return nil, err
	}
	f := &Files{saver: s, o: o, task: t}
	if o.IsTree() {
		o.Watch.Bases = []string{o.Tree.dir}
	}
	if f.Page, err = o.Watch.Begin(strings.TrimSuffix(path, ".json")); err != nil {
		return nil, err
	}
	name, decided := o.journalAt(path), o.fingerprint(t, decides)
	f.moved, f.begun, err = o.makeRoom(name, s, decided)
	if !f.begun {
		earlier, _ := journal.Inspect(name) // what is wrong with the file, openJournal says
		decided = fitted(earlier.Fingerprint, decided)
	}
	f.run = hashOf(decided)
	if err == nil && !o.noJournal() {
		f.Journal, err = o.openJournal(name, decided)
	}
	if err != nil {
		return nil, errors.Join(err, restore(f.moved), f.Page.Close())
	}
	if f.Journal == nil {
		return f, nil // and no page, which reads a journal
	}
	o.sayGoingOn(f.Journal)
	if err := f.Page.Follow(name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// KeepRules has a resumed run go on by the rules that its journal was begun with. All runs once were --strict, had steps
// whose width went by better children alone, and the constants of a cautious challenge; the commands to resume them say
// none of that. The result of the run goes to path, below --output.
func (o *Options) KeepRules(path string) {
	if !o.Resume {
		return
	}
	name := o.journalAt(path)
	if !exists(name) { // the run may have ended by a smaller --T
		for _, other := range journalsIn(filepath.Dir(name), false) {
			if budgetIn.ReplaceAllString(other, "") == budgetIn.ReplaceAllString(name, "") {
				name = other
				break
			}
		}
	}
	if run, _ := journal.Inspect(name); run.Fingerprint != nil { // what is wrong with the file, Open says
		o.Strict = o.Strict || run.Fingerprint[ties] == ""
		width := run.Fingerprint["breadth"]
		o.better = width != "" && !strings.HasSuffix(width, "kept)")
		o.cautious = strings.HasPrefix(run.Run["policy"], "Challenge(") && !strings.Contains(run.Run["policy"], "ε")
	}
}

// budgetIn matches the budget in the name of a run's files.
var budgetIn = regexp.MustCompile(`C\d+_T\d+`)

// KeepSampling reports whether a resumed run was begun with the paper's sampling and a seed in each request, which all
// runs once had. Its models are then opened with them. The result of the run goes to path, below --output.
func (o *Options) KeepSampling(path string) bool {
	run, _ := journal.Inspect(o.journalAt(path)) // what is wrong with the file, Open says
	o.paper = o.Resume && !o.given["top-p"] && strings.Contains(run.Fingerprint["model"], "top-p 0.95")
	return o.paper
}

// Asked returns spec with the sampling that the run's requests have, for a model without flags of its own.
func (o *Options) Asked(spec llm.Model) llm.Model {
	if o.paper {
		return llm.PaperSampling(spec)
	}
	return spec
}

// journalAt returns the path of the journal of a run whose result goes to path, below --output.
func (o *Options) journalAt(path string) string {
	return cmp.Or(o.Journal, strings.TrimSuffix(filepath.Join(o.Output, path), ".json")+".journal")
}

// Close ends the page and closes the journal.
func (f *Files) Close() error {
	err := f.Page.Close()
	if f.Journal != nil {
		err = errors.Join(err, f.Journal.Close())
	}
	return err
}

// noJournal reports whether --journal "" says that the run has no journal.
func (o *Options) noJournal() bool { return o.given["journal"] && o.Journal == "" }

// openJournal opens the journal. What the flags can mend is a [UsageError].
func (o *Options) openJournal(path string, fp journal.Fingerprint) (*journal.Journal, error) {
	if err := checkRoom(path); err != nil {
		return nil, err
	}
	cfg := journal.Config{Fingerprint: fp, Resume: o.Resume, Command: o.Recorded(), Unsafe: o.Unsafe}
	j, err := journal.Open(path, cfg)
	if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
		return nil, &UsageError{err}
	}
	switch {
	case errors.Is(err, journal.ErrDiverged):
		return nil, Usagef("%w; %s", err, o.otherFlags())
	case errors.Is(err, journal.ErrVersion):
		return nil, Usagef("%w; to begin anew and keep its files under other names: %s", err, o.again("anew"))
	case err != nil:
		return nil, locked(path, unsafe(err))
	}
	if o.Unsafe {
		Printf("--journal-unsafe: if the file system of %s has no locks or no fsync, two processes may damage the journal, "+
			"and a machine that dies may lose its end\n", path)
	}
	return j, nil
}

// sayGoingOn prints what is known of a run before it is resumed.
func (o *Options) sayGoingOn(j *journal.Journal) {
	switch lost := j.Lost(); {
	case o.copied != "":
	case j.Finished() && slices.ContainsFunc(raising, func(flag string) bool { return o.given[flag] }):
		Printf("%s tells of a finished run; its search asks the model for nothing unless the limit that ended it is larger "+
			"now\n",
			j.Path())
	case j.Finished():
		Printf("%s tells of a finished run; its search asks the model for nothing\n", j.Path())
	case lost > 0:
		Printf("%d calls were under way when the run was killed: they may have been paid for, and are made again\n", lost)
	}
}

// Unused ends a run that drew no search: the initial program is invalid, or its evaluation failed, was stopped, or
// exceeded the budget. If this process began the run and no model was called, Unused removes the run's files and
// restores the names of an earlier run; otherwise the journal stays. Unused returns the error for main; an invalid
// initial program and a budget that is too small are a [UsageError].
func (f *Files) Unused(r *evolve.Result, err error) error {
	asked, attempts := "nothing was asked of the model", attemptsOf(r)
	if attempts > 0 {
		asked = fmt.Sprintf("its evaluation asked the model itself (attempts: %d, answered calls: %d)", attempts, r.Calls)
	}
	goesOn := r != nil && unfinished(r) && !errors.Is(err, evolve.ErrInvalidStart)
	switch {
	case errors.Is(err, evolve.ErrInvalidStart):
		err = Usagef("the initial program of task %s is invalid: %s; %s", f.task.Name(), reason(r), asked)
	case errors.Is(err, journal.ErrDiverged):
		if err = f.o.otherRun(err); f.o.copied != "" { // the run that it is a copy of keeps its own
			err = errors.Join(err, f.Close(), os.Remove(f.o.copied))
		}
	case errors.Is(err, eval.ErrDrift):
		err = Usagef("--canary: the search did not begin: %s; %s", strings.Replace(err.Error(), " and resume,", ",", 1),
			asked)
	case err == nil && r.Stop == evolve.StopBudget:
		err = Usagef("%s before the initial program of task %s had a score: %s; a search needs a larger budget",
			ended(r.Limit), f.task.Name(), asked)
	case err == nil:
		err = ErrCanceled
	}
	if !f.begun {
		return errors.Join(err, restore(f.moved))
	}
	err = errors.Join(err, f.Close())
	if attempts > 0 && f.Journal != nil {
		if goesOn {
			Printf("the journal keeps what the model was asked; this goes on where it stopped:\n\n  %s\n", f.o.again("resume"))
		}
		return err
	}
	if f.Journal != nil {
		err = errors.Join(err, os.Remove(f.Journal.Path()))
	}
	return errors.Join(err, restore(f.moved))
}

// attemptsOf counts the attempts at calls of a run, which may be nil.
func attemptsOf(r *evolve.Result) (n int) {
	if r == nil {
		return 0
	}
	for range r.Attempts {
		n++
	}
	return n
}

// reason returns why an initial program is invalid.
func reason(r *evolve.Result) string {
	for _, arm := range r.Arms {
		if why := arm.Start.Result.Reason; why != "" {
			return why
		}
	}
	return ""
}

// Finish saves the result r, its report file, and the page of a watched run, which then stays until ctx ends. Once that
// is saved it scores held-out cases. It prints how to resume an unfinished run, and returns the error for main: runErr
// if the run failed, ErrCanceled if it was stopped.
func (f *Files) Finish(ctx context.Context, file Saved, r *evolve.Result, runErr error) error {
	// the same command would fail again, and its result is not the journal's run
	if errors.Is(runErr, journal.ErrDiverged) {
		return errors.Join(f.o.otherRun(runErr), restore(f.moved))
	}
	*file.HeldOut = f.scoredBefore(r.Best)
	saved, err := f.saver.save(file.Body, r)
	if err != nil {
		return err
	}
	if saved && *file.HeldOut == nil {
		if err := f.scoreHeldOut(ctx, f.saver.name(r)+".json", file, r); err != nil {
			runErr = cmp.Or(runErr, err)
		}
	}
	switch {
	case unfinished(r) && f.Journal == nil:
		Printf("the budget is not spent, and without a journal the run cannot go on\n")
	case unfinished(r):
		Printf("the budget is not spent; this goes on where it stopped:\n\n  %s\n", f.o.again("resume"))
	}
	if f.Journal != nil {
		if err := f.Page.save(f.saver.name(r)+pageEnding, f.Journal.Path()); err != nil {
			return errors.Join(runErr, err)
		}
	}
	if runErr == nil && r.Stop == evolve.StopCanceled {
		runErr = ErrCanceled
	}
	return f.Page.Stay(ctx, runErr)
}

// unfinished reports whether a run can be resumed.
func unfinished(r *evolve.Result) bool {
	return r.Stop == evolve.StopCanceled || r.Stop == evolve.StopError
}

// ended says that a limit, a field of [evolve.Budget], ended a run.
func ended(limit string) string {
	for _, l := range evolve.Limits() {
		if l.Name == limit && l.Ended != "" {
			return l.Ended
		}
	}
	return "the budget (" + limit + ") ended"
}
