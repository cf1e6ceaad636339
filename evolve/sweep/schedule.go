package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/task"
)

// A Result is the result of a sweep.
type Result struct {
	// Scores are those of the cells of finished runs, and of the runs that [Config.Read] names, by task, model, method, N,
	// T and seed.
	Scores     []Score
	Finished   int     // finished runs
	Unfinished []Trial // runs ended by too many stalls, which a larger Config.Stalls resumes
	Left       int     // runs not made, or not finished, because the sweep was stopped
	Verdicts   []Verdict
}

// A Score is the best score of a cell.
type Score struct {
	Cell
	Best     float64
	Answered int // calls by then; fewer than the budget if some failed and were not repeated
}

// Run makes the unfinished runs of the plan, and writes runs.csv. When ctx ends, no more calls are sent, those under
// way have the grace period to finish, and the sweep can be resumed; that is not an error.
//
// An error is a run's, the plan's or the configuration's. The other runs are then stopped, and can be resumed. The
// result beside an error holds the finished runs; it is nil if none was begun.
//
// Run locks the folder: if another process is sweeping in it, the error is [journal.ErrLocked].
//
// Run returns when every goroutine that it started has ended.
func (p Plan) Run(ctx context.Context, cfg Config) (result *Result, err error) {
	cfg = cfg.withDefaults()
	if err := errors.Join(p.validate(), cfg.validate()); err != nil {
		return nil, err
	}
	for _, c := range cfg.StopWhen {
		if err := c.validate(p); err != nil {
			return nil, err
		}
	}
	read, err := p.readForeign(cfg.Read)
	if err != nil {
		return nil, err
	}
	release, err := holdFolder(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	s := newSweep(p, cfg)
	for _, f := range read {
		s.out.Scores = append(s.out.Scores, f.scores()...)
	}
	left, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx, left)
	return s.result(), errors.Join(err, p.writeCSV(cfg.Dir, read))
}

// A sweep is a plan while its runs are made. The goroutine that calls run owns all of it, except what mu guards.
type sweep struct {
	plan   Plan
	tasks  []task.Task // the plan's, within the limit on evaluations
	models []Model     // the plan's, within the limit on calls
	cfg    Config
	out    Result

	running, width int // runs under way, and the sum of their breadths
	ended          chan ended
	board          *board

	mu sync.Mutex // held while the observer runs
}

// ended is a run that has ended.
type ended struct {
	run  Trial
	done *finished // nil if the run can be resumed
	err  error
}

func newSweep(p Plan, cfg Config) *sweep {
	s := &sweep{plan: p, tasks: p.Tasks, models: limitedCalls(p.Models, cfg.Calls, cfg.Retry), cfg: cfg,
		ended: make(chan ended), board: newBoard(p, cfg.StopWhen)}
	if cfg.Evaluations > 0 {
		s.tasks = limitedEvaluations(p.Tasks, cfg.Evaluations)
	}
	return s
}

// known reads the markers of finished runs, and returns the other runs. A folder of another sweep is thereby detected
// before anything is paid for.
func (s *sweep) known(ctx context.Context) (left []Trial, err error) {
	for _, r := range s.plan.Runs() {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("sweep: %w", context.Cause(ctx))
		}
		f, err := readFinished(filepath.Join(s.cfg.Dir, r.Path(".done")), r, s.plan.fingerprint(r))
		switch {
		case err != nil:
			return nil, err
		case f == nil:
			left = append(left, r)
		default:
			s.take(r, f, EventKnown)
		}
	}
	return left, nil
}

// take takes in a finished run.
func (s *sweep) take(r Trial, f *finished, kind EventKind) {
	s.out.Finished++
	for _, c := range r.Cells() {
		if rows, ok := f.course(c, s.plan.Methods[r.of.method].Contains); ok {
			last := rows[len(rows)-1]
			s.out.Scores = append(s.out.Scores, Score{c, last.Best, last.Calls})
			s.board.add(c, rows)
		}
	}
	last := f.Rows[len(f.Rows)-1]
	s.observe(Event{Kind: kind, Run: r, Calls: last.Calls, Cost: last.Cost, Best: last.Best})
}

// run makes runs, in order, as many at once as there is room for.
func (s *sweep) run(ctx context.Context, left []Trial) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	decided := false
	for {
		if !decided && s.board.decided() {
			decided = true
			s.observe(Event{Kind: EventDecided})
		}
		for len(left) > 0 && ctx.Err() == nil && !decided && s.room() {
			s.begin(ctx, left[0])
			left = left[1:]
		}
		if s.running == 0 {
			s.out.Left += len(left)
			return err
		}
		e := <-s.ended
		s.running--
		s.width -= s.widthOf(e.run)
		switch {
		case e.err != nil:
			err = errors.Join(err, e.err)
			s.out.Left++
			stop()
		case e.done != nil:
			s.take(e.run, e.done, EventEnd)
		case ctx.Err() != nil:
			s.out.Left++
		default:
			s.out.Unfinished = append(s.out.Unfinished, e.run)
		}
	}
}

// busy is the ratio of the runs' total breadth to the limits. A generation has fewer and fewer children under way
// towards its end, about half of its breadth on average, and each is at either limit or waits for the disk.
const busy = 8

// room reports whether one more run may begin.
func (s *sweep) room() bool {
	return s.running < s.cfg.AtOnce && s.width < busy*(s.cfg.Calls+s.cfg.Evaluations)
}

// widthOf returns the most children that a run has under way.
func (s *sweep) widthOf(r Trial) int { return r.N * max(s.plan.Methods[r.of.method].InFlight, 1) }

// begin begins a run on a goroutine of its own.
func (s *sweep) begin(ctx context.Context, r Trial) {
	s.running++
	s.width += s.widthOf(r)
	s.observe(Event{Kind: EventBegin, Run: r})
	go func() {
		e := ended{run: r, err: fmt.Errorf("sweep: run %s ended its goroutine", r)} // stands if a method calls runtime.Goexit
		defer func() { s.ended <- e }()
		e.done, e.err = s.complete(ctx, r)
	}()
}

// observe passes an event to the observer.
func (s *sweep) observe(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Observer(e)
}

func (s *sweep) result() *Result {
	slices.SortFunc(s.out.Scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.N, b.N), cmp.Compare(a.T, b.T), cmp.Compare(a.Seed, b.Seed))
	})
	s.out.Verdicts = s.board.verdicts()
	return &s.out
}
