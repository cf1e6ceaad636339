package evolve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm"
)

// JournalVersion is the version of the journal's format, in its first record.
const JournalVersion = 1

// ErrDiverged says that a run is not the one its journal tells of: the header differs, or replay came
// to another decision. The error that wraps it names the record and both values.
var ErrDiverged = errors.New("the journal tells of another run")

// ErrJournal says that the journal could not be written. Nothing is asked of the model any more then,
// as what is paid for could not be kept.
var ErrJournal = errors.New("the journal cannot be written")

// A Fingerprint is everything that decides a run, by name: task, prompts, model and sampling, seeds,
// T, N, K. What [Run] knows itself (the policy as it prints itself, the number of arms, the seed of
// the draws, how many are in flight) it adds in a record of its own.
//
// What cannot print itself is told from another of its kind only where it decides otherwise: two funcs, or
// two values of a policy's type without a method String. Where an evaluator is one ([eval.Func]), its old
// scores would be taken for its new ones: give it a name or a version here, and change that with it.
type Fingerprint map[string]string

// A Journal makes a run durable: an append-only file of JSON lines that holds every reply that was
// paid for, every evaluation, and every decision, each before anything acts on it. Wrap the model and
// the task ([Journal.LLM], [Journal.Task]) and give it to [Run]; then the same program run again goes
// on where it was killed. What was paid for comes from the file, decisions are made anew and compared
// ([ErrDiverged] if they differ), and where the file ends the run goes on for real. Searches of other
// makes are resumed too, and know nothing of it.
//
// It is safe for concurrent use. docs/journal.md describes the file, which only its owner may read.
type Journal struct {
	path string
	log  *wal.Log

	mu        sync.Mutex
	effects   map[effectID]wal.Place // what a call or an evaluation came to, or that it was refused
	aborted   map[effectID]wal.Place // a call given up, to be made again unless the run is over
	abortions []wal.Place            // all that were, in order
	begun     map[effectID]wal.Place // calls sent in the life that is being read, and not known to have ended
	lost      []wal.Place            // those of lives that ended so, in order
	shown     map[wal.Place]bool     // abortions that this life's result tells, too
	claimed   map[effectKey]int      // occurrences handed out in this life
	unclaimed int                    // answers in the file that were not asked for yet
	programs  map[[32]byte]bool      // whose text is in the file
	decisions []Record               // of earlier lives, in order
	drawn     map[int]int            // where in decisions a pull of the run read last was drawn
	ended     map[int]time.Duration  // by place in decisions: how long a pull took whose end was reported
	ran       int                    // where in decisions the run read last began
	raised    int                    // where in decisions it went on with a larger limit last
	next      int                    // of decisions, the one to be made now
	last      time.Time              // of the last record read
	earlier   time.Duration          // sum over earlier lives
	life      time.Time              // when this one began
	final     bool                   // the last decision is a stop that stands
	live      chan struct{}          // closed when every decision has been made again
	err       error                  // ErrDiverged, once found
}

// An effectKey is what was asked; an effectID also which time.
type effectKey [32]byte

type effectID struct {
	effectKey
	n int
}

// JournalConfig says what an opened journal is for.
type JournalConfig struct {
	Fingerprint Fingerprint // of the run; compared with the file's
	// Resume goes on with the file if there is one. Without it an existing file is an error:
	// what was paid for is never overwritten.
	Resume bool
}

// OpenJournal makes the file, or goes on with it. It fails if the file exists and cfg.Resume is false;
// if another process has it open; if a line other than torn ones at its end is damaged (naming the
// line; [Salvage] copies what is sound before it); and with [ErrDiverged] if its fingerprint is
// another. Torn lines at the end, which a kill leaves, are cut and logged.
func OpenJournal(path string, cfg JournalConfig) (*Journal, error) {
	j := &Journal{
		path:     path,
		effects:  make(map[effectID]wal.Place),
		aborted:  make(map[effectID]wal.Place),
		begun:    make(map[effectID]wal.Place),
		shown:    make(map[wal.Place]bool),
		claimed:  make(map[effectKey]int),
		programs: make(map[[32]byte]bool),
		drawn:    make(map[int]int),
		ended:    make(map[int]time.Duration),
		live:     make(chan struct{}),
	}
	if err := j.open(cfg); err != nil {
		return nil, fmt.Errorf("evolve: journal %s: %w", path, err)
	}
	j.begin()
	return j, nil
}

func (j *Journal) open(cfg JournalConfig) (err error) {
	j.log, err = wal.Create(j.path)
	var header *Record
	if errors.Is(err, fs.ErrExist) {
		if !cfg.Resume {
			return errors.New("it exists: resume it, or move it away")
		}
		header, err = j.reopen()
	}
	if err != nil {
		return err
	}
	if header == nil { // new, or killed before its first record
		_, err = j.append(&Record{Kind: RecordHeader, Version: JournalVersion, Fingerprint: cfg.Fingerprint})
	} else {
		err = compare(header, cfg.Fingerprint)
	}
	if err == nil {
		_, err = j.append(&Record{Kind: RecordLife})
	}
	if err != nil {
		return errors.Join(err, j.log.Close())
	}
	return nil
}

// reopen reads what earlier lives left and returns the header.
func (j *Journal) reopen() (header *Record, err error) {
	var cut int64
	j.log, cut, err = wal.Open(j.path, func(e wal.Entry) error {
		r, err := j.read(e)
		if e.Index == 0 {
			if err == nil && r.Kind != RecordHeader {
				err = fmt.Errorf("its first record is a %q: this is no journal", r.Kind)
			}
			header = &r
		}
		return err
	})
	var damage *wal.DamageError
	switch {
	case errors.As(err, &damage):
		return nil, fmt.Errorf("%w; Salvage copies what is sound before it", err)
	case err != nil:
		return nil, err
	case cut > 0:
		slog.Warn("evolve: cut the torn end of a journal", "journal", j.path, "bytes", cut)
	}
	return header, nil
}

// compare reports in what the run differs from the header's.
func compare(header *Record, now Fingerprint) error {
	if header.Version != JournalVersion {
		return fmt.Errorf("its format has version %d, this library's %d", header.Version, JournalVersion)
	}
	return header.Fingerprint.compare(header.Index, now)
}

// compare reports in which fields now differs from f, which the record of that number holds.
func (f Fingerprint) compare(record int, now Fingerprint) error {
	both := maps.Clone(f)
	maps.Copy(both, now)
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if f[name] != now[name] {
			fields = append(fields, fmt.Sprintf("%s is %q, this run's %q", name, f[name], now[name]))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("%w: record %d: %s: put that back, or begin anew with another journal", ErrDiverged, record, strings.Join(fields, "; "))
}

// read takes a record of an earlier life in.
func (j *Journal) read(e wal.Entry) (Record, error) {
	p, ok := peek(e.Object)
	r := Record{Kind: p.kind, Time: p.time}
	if !ok || p.kind.decision() || p.kind == RecordHeader || p.kind == RecordRaise {
		var err error
		if r, err = decode(e.Object); err != nil {
			return r, fmt.Errorf("line %d: %w", e.Index+1, err)
		}
	}
	id := effectID{p.key, p.n}
	switch r.Kind {
	case RecordHeader, RecordPause:
	case RecordLife:
		j.endLife()
		j.life = time.UnixMilli(r.Time)
	case RecordBegin:
		j.begun[id] = e.Place
	case RecordRefusal, RecordEvaluation:
		j.effects[id] = e.Place
	case RecordCompletion:
		j.effects[id] = e.Place
		j.unclaimed++
		delete(j.begun, id)
	case RecordAborted:
		j.aborted[id] = e.Place
		j.abortions = append(j.abortions, e.Place)
		delete(j.begun, id)
	case RecordProgram:
		j.programs[p.key] = true
	case RecordRun, RecordDraw, RecordReport, RecordStop:
		j.readDecision(r)
	case RecordRaise:
		if !j.raisable(r.Fingerprint, r.Limit) {
			return r, fmt.Errorf("line %d: a limit is raised that did not end the run", e.Index+1)
		}
		j.goOn(r.Fingerprint)
	default:
		return r, fmt.Errorf("line %d: unknown kind %q", e.Index+1, r.Kind)
	}
	j.last = time.UnixMilli(r.Time)
	return r, nil
}

func (j *Journal) readDecision(r Record) {
	switch r.Kind {
	case RecordRun:
		clear(j.drawn)
		j.ran = len(j.decisions)
	case RecordDraw:
		j.drawn[*r.Pull] = len(j.decisions)
	case RecordReport:
		if at, ok := j.drawn[*r.Pull]; ok {
			begin := max(j.decisions[at].Time, j.life.UnixMilli()) // what an earlier life made of it was made again
			j.ended[at] = max(0, time.Duration(r.Time-begin)*time.Millisecond)
		}
	}
	j.decisions = append(j.decisions, r)
	j.final = r.Kind == RecordStop
}

// endLife adds the life that the records read last belong to. What it began and did not end is lost, also
// when it is made again later.
func (j *Journal) endLife() {
	j.lost = slices.AppendSeq(j.lost, maps.Values(j.begun))
	slices.SortFunc(j.lost, func(a, b wal.Place) int { return cmp.Compare(a.Offset, b.Offset) })
	clear(j.begun)
	if !j.life.IsZero() && j.last.After(j.life) {
		j.earlier += j.last.Sub(j.life)
	}
}

// begin starts this life, when all earlier ones are read.
func (j *Journal) begin() {
	j.endLife()
	j.life = time.Now()
	if len(j.decisions) == 0 {
		close(j.live)
	}
}

// append writes a record; it stands in the order of the calls.
func (j *Journal) append(r *Record) (wal.Place, error) {
	r.Time = time.Now().UnixMilli()
	p, err := j.log.Append(r)
	if err != nil {
		return p, fmt.Errorf("evolve: %w: %s: %w", ErrJournal, j.path, err)
	}
	return p, nil
}

// sync puts the record at p on disk.
func (j *Journal) sync(p wal.Place) error {
	if err := j.log.Sync(p); err != nil {
		return fmt.Errorf("evolve: %w: %s: %w", ErrJournal, j.path, err)
	}
	return nil
}

// Err returns what ended the journal, if anything did.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.log.Err(); err != nil && j.err == nil {
		return fmt.Errorf("evolve: %w: %s: %w", ErrJournal, j.path, err)
	}
	return j.err
}

// Close syncs and closes the file and gives up the lock on it.
func (j *Journal) Close() error {
	if err := j.log.Close(); err != nil {
		return fmt.Errorf("evolve: closing journal %s: %w", j.path, err)
	}
	return nil
}

// Path returns the file's name.
func (j *Journal) Path() string { return j.path }

// Finished reports whether the file tells of a run that is over: running it again gives its result
// and asks nothing of the model, unless [Run] is given a larger limit (see [Budget]).
func (j *Journal) Finished() bool { return j.final }

// Lost returns how many calls earlier lives had sent when they were killed, before they could record an
// answer. They may have been paid for, once each beside what the run's generations tell; the run makes
// them again, and [Result.Earlier] counts them. Calls that waited for a place of an [llm.Limit] or a
// pool are not among them, nor are those in queues of other makes that say so ([llm.Announces]).
func (j *Journal) Lost() int { return len(j.lost) }

// claim returns the identity of the next call that asks for key.
func (j *Journal) claim(key effectKey) effectID {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.claimed[key]
	j.claimed[key] = n + 1
	return effectID{key, n}
}

// recall returns the record of id from the given map, if there is one.
func (j *Journal) recall(from map[effectID]wal.Place, id effectID) (r *Record, found bool, err error) {
	j.mu.Lock()
	p, found := from[id]
	j.mu.Unlock()
	if !found {
		return nil, false, nil
	}
	record, err := j.at(p)
	return &record, err == nil, err
}

// at returns the record at p.
func (j *Journal) at(p wal.Place) (Record, error) {
	object, err := j.log.Read(p)
	if err != nil {
		return Record{}, fmt.Errorf("evolve: journal %s: %w", j.path, err)
	}
	return decode(object)
}

// forget drops what is known of a call, to save memory.
func (j *Journal) forget(id effectID, kind RecordKind) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.effects, id)
	if kind == RecordCompletion {
		j.unclaimed--
	}
}

// show notes that a call that an earlier life gave up is told again.
func (j *Journal) show(id effectID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shown[j.aborted[id]] = true
}

// awaitLive waits until every decision of earlier lives has been made again, so that nothing is paid
// for by a run that turns out to be another. In a run that is over nothing more is asked for.
func (j *Journal) awaitLive(ctx context.Context) error {
	select {
	case <-j.live:
		if j.final {
			return fmt.Errorf("evolve: journal %s tells of a run that is over: %w", j.path, llm.ErrDraining)
		}
		return j.Err()
	case <-ctx.Done():
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
}

// replayed returns a channel that is closed once every decision of earlier lives is made again.
func (j *Journal) replayed() <-chan struct{} {
	if j == nil {
		now := make(chan struct{})
		close(now)
		return now
	}
	return j.live
}

// decide records a decision, or compares it with the one made at this point in an earlier life.
func (j *Journal) decide(r Record) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.next == len(j.decisions) {
		p, err := j.append(&r)
		if err == nil && r.Kind == RecordStop {
			err = j.sync(p)
		}
		return err
	}
	if err := j.decisions[j.next].compare(r); err != nil {
		j.err = fmt.Errorf("evolve: journal %s: %w", j.path, err)
		return j.err
	}
	if j.next++; j.next == len(j.decisions) {
		close(j.live)
	}
	return nil
}

// endsLater reports whether the draw that is to be made now is in the file and so is the end of its pull, so
// that whatever it asks for is, too, and how long it took.
func (j *Journal) endsLater() (took time.Duration, ends bool) {
	if j == nil {
		return 0, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	took, ends = j.ended[j.next] // a place beyond the decisions has none
	return took, ends
}

// diverged notes that a call is not in the file though it must be, and returns that as an error.
func (j *Journal) diverged(pull int, id effectID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = fmt.Errorf("evolve: journal %s: %w: pull %d asks for %x (occurrence %d), which it did not ask for then;"+
			" its requests depend on more than seeds and answers, or equal ones were in flight at once", j.path, ErrDiverged, pull, id.effectKey, id.n)
	}
	return j.err
}

// givenUpBefore returns the records of calls that earlier lives gave up and what they cost.
func (j *Journal) givenUpBefore() (records []Record, err error) {
	if j == nil {
		return nil, nil
	}
	for _, p := range j.abortions {
		r, err := j.at(p)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// beside returns what earlier lives paid for that no generation of this life's result tells.
func (j *Journal) beside() (e Earlier, err error) {
	if j == nil {
		return e, nil
	}
	for _, p := range j.abortions {
		j.mu.Lock()
		shown := j.shown[p]
		j.mu.Unlock()
		if shown {
			continue
		}
		r, err := j.at(p)
		if err != nil {
			return e, err
		}
		if attempts := r.Reply.Attempts; len(attempts) > 0 { // it was sent
			e.Aborted = append(e.Aborted, attempts)
		}
	}
	for _, p := range j.lost {
		r, err := j.at(p)
		if err != nil {
			return e, err
		}
		e.Lost = append(e.Lost, llm.Attempt{Status: llm.Canceled, MaxTokens: r.MaxTokens, Err: "the process was killed before it ended"})
	}
	return e, nil
}

// behind reports whether the file tells of decisions or answers that were not made again in this life.
func (j *Journal) behind() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < len(j.decisions) || j.unclaimed > 0
}

// landsNext returns the pull whose end was recorded next in an earlier life.
func (j *Journal) landsNext() (pull int, ok bool) {
	if j == nil {
		return 0, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == len(j.decisions) {
		return 0, false
	}
	if r := j.decisions[j.next]; r.Kind == RecordReport {
		return *r.Pull, true
	}
	return 0, false
}

// drawsNext reports whether decisions of an earlier life are left, and whether the next of them is a
// draw, or the stop that a draw finds.
func (j *Journal) drawsNext() (draws, replaying bool) {
	if j == nil {
		return false, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == len(j.decisions) {
		return false, false
	}
	kind := j.decisions[j.next].Kind
	return kind == RecordDraw || kind == RecordStop, true
}

// stopsNext reports whether an earlier life stopped here by the given limit.
func (j *Journal) stopsNext(limit string) bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < len(j.decisions) && j.decisions[j.next].Kind == RecordStop && j.decisions[j.next].Limit == limit
}

// pause notes that a run ended without a result that stands, and why.
func (j *Journal) pause(stop Stop, err error) error {
	if j == nil || j.Err() != nil {
		return nil
	}
	r := Record{Kind: RecordPause, Stop: stop}
	if err != nil {
		r.Error = llm.NewErrorRecord(err)
	}
	p, err := j.append(&r)
	return cmp.Or(err, j.sync(p))
}

// elapsed is the time of all lives until now.
func (j *Journal) elapsed() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.earlier + time.Since(j.life)
}

// hashed returns the key of an evaluation or a call.
func hashed(parts ...string) effectKey {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return effectKey(h.Sum(nil))
}
