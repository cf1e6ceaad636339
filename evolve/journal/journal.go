// Package journal makes a run durable. A journal is an append-only file of JSON lines that holds every reply
// that was paid for, every evaluation and every decision, each before anything acts on it.
// docs/reference.md describes the file.
//
// Open a journal and give it to evolve.Run in Config.Journal. That is all the wiring there is. The same
// program run again with the same journal goes on where it was killed: what was paid for comes from the
// file, decisions are made anew and compared ([ErrDiverged] if they differ), and where the file ends the
// run goes on for real.
//
//	j, err := journal.Open("run.journal", journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"task": "cp"}})
//	defer j.Close()
//	result, err := evolve.Run(ctx, evolve.Config{..., Journal: j})
//
// Read what happened in a run with history.Read, and show one that goes on with a Server of package view. [Inspect]
// says whose run a journal is.
package journal

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// ErrDiverged says that a run is not the one in its journal: the header differs, or replay made another
// decision. The error that wraps it names the record and both values. To guess instead and go on would mix
// answers of two runs in one result.
var ErrDiverged = record.ErrDiverged

// ErrWrite says that the journal could not be written. No model is asked any more then, because what is paid
// for could not be kept.
var ErrWrite = record.ErrWrite

// ErrVersion says that the file has another version of the format: its run cannot go on.
var ErrVersion = record.ErrVersion

// ErrLocked says that another process has the journal open.
var ErrLocked = record.ErrLocked

// ErrUnsafe says that the file system has no locks, or does not say when a file is on disk. See [Config].Unsafe.
var ErrUnsafe = record.ErrUnsafe

// ErrInUse says that another run of this process uses the journal now. The lock on the file does not notice
// that, because both runs use one open file.
var ErrInUse = record.ErrInUse

// A Journal is one open file. Only the user who made it may read the file, because it holds prompts, replies and
// programs. A Journal is safe for concurrent use.
type Journal record.Journal

// Config says what an opened journal is for.
type Config struct {
	// Fingerprint is everything that decides the run, by name. It is compared with the file's.
	Fingerprint Fingerprint
	// Resume goes on with the file if there is one. Without it an existing file is an error. What was paid for
	// is never overwritten, and a run is not resumed by accident.
	Resume bool
	// Command is how to make the run again, for readers of the file; "" if that is not known. It must hold no secret.
	Command string
	// Unsafe makes or goes on with the file also where the file system has no locks, or does not say when a file is on
	// disk. Two processes may then damage it, and the death of the machine may lose answers that were paid for.
	Unsafe bool
}

// A Fingerprint is everything that decides a run, by name: task, prompts, model and sampling, seeds, T, N,
// K. evolve.Run adds what it knows itself in a record of its own: the policy as its String method describes it,
// the number of arms, the seed of the draws, how many are in flight, the budget.
//
// It is a map of text and not one hash, so that an error can name the field that differs.
//
// Only what prints differently can be told apart. Two funcs print alike, and so do two values of a policy's
// type without a method String. If an evaluator is a func (eval.Func), the scores of its old version would be
// taken for those of its new one. Give it a name or a version here, and change that with it.
type Fingerprint map[string]string

// Open makes the file, or goes on with it. It fails
//
//   - if the file exists and cfg.Resume is false;
//   - with [ErrLocked] if another process has it open;
//   - with [ErrUnsafe] where it can be neither locked nor synced, unless cfg.Unsafe is set;
//   - if a line other than torn ones at its end is damaged. The error names the line, and [Salvage] copies
//     what is sound before it;
//   - with [ErrVersion] if it has another version of the format;
//   - with [ErrDiverged] if its fingerprint is another.
//
// Torn lines at the end, which a kill leaves, are cut and logged. Nothing was acted on that they would have
// held, so the run makes it again. Damage in the middle is not cut: sound lines after it were acted on.
func Open(path string, cfg Config) (*Journal, error) {
	j, err := record.Open(path, record.Config{Fingerprint: cfg.Fingerprint, Resume: cfg.Resume, Command: cfg.Command,
		Unsafe: cfg.Unsafe})
	return (*Journal)(j), err
}

func (j *Journal) file() *record.Journal { return (*record.Journal)(j) }

// Path returns the file's name.
func (j *Journal) Path() string { return j.file().Path() }

// Close syncs and closes the file and gives up the lock on it.
func (j *Journal) Close() error { return j.file().Close() }

// Finished reports whether the run in the file is over. To make it again gives its result and asks the model for
// nothing, unless the run is given a larger limit (see evolve.Budget). If a program makes several runs with one
// journal, it reports on the one that was begun last in this process.
func (j *Journal) Finished() bool { return j.file().Finished() }

// Lost returns how many attempts earlier processes had sent and not seen the end of when they were killed.
// They may have been paid for, and no generation of the run's result holds them. The run makes them again, and
// its result counts them apart. Calls that waited in a queue are not among them, if the queue announces what
// it sends (llm.Announces).
func (j *Journal) Lost() int { return j.file().Lost() }

// InUse reports whether a process, this one or another, has the journal open. A file that does not exist is not in use.
// A run that opens the journal at the same time is not disturbed.
//
// On Linux it asks for a lock without taking it. On other Unix systems it takes a shared lock for an instant, for which
// a run that begins then waits. Elsewhere it looks whether the lock file beside the journal is there, which a killed
// process leaves. On Linux it fails on a file system without locks of open file descriptions.
func InUse(path string) (bool, error) {
	used, err := wal.InUse(path)
	if err != nil {
		return false, fmt.Errorf("journal: whether %s is in use: %w", path, err)
	}
	return used, nil
}
