package view

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// An arm is one search while its run is read.
type arm struct {
	name    string
	run     int // the run of the file that it belongs to, from 1
	start   scored
	program string // key of the initial program
	best    scored
	born    map[int]int   // rows by ID
	inner   map[birth]int // IDs of the children of searches within
	step    int           // that ended or is under way
}

// A birth names a child of a search that allocates to searches of its own, each of which counts its children from 1.
type birth struct {
	search string
	id     int
}

// idOf returns the ID of a child in all of the search. The initial program has 0 everywhere.
func (a *arm) idOf(search string, id int) int {
	if search == "" || id == 0 {
		return id
	}
	if a.inner == nil {
		a.inner = map[birth]int{}
	}
	b := birth{search, id}
	if _, known := a.inner[b]; !known {
		a.inner[b] = len(a.inner) + 1
	}
	return a.inner[b]
}

// A scored is a score, if there is one.
type scored struct {
	score float64
	valid bool
}

// better reports whether s is strictly better than t, as evolve has it: a valid one than one that is not.
func (s scored) better(t scored) bool {
	return s.valid && (!t.valid || s.score > t.score)
}

// A pull is one that was drawn and whose reward is not reported yet.
type pull struct {
	arm     int // of the runLog
	round   int
	step    int            // of its search, the one under way
	before  scored         // the best of its search when the step began
	rows    map[[3]int]int // children taken in, by step, index and ID
	first   int            // the first of the rows
	entries map[int]entry  // of the rows, for the ledgers
}

// run begins the next run of the file. Its searches come after those of the runs before it.
func (l *runLog) run(r journal.Record) {
	l.config.run = r.Fingerprint
	l.calls.prices = newPrices(r.Models)
	l.config.runs++
	l.config.first = len(l.arms)
	l.end = ending{}
	for _, number := range slices.Sorted(maps.Keys(l.pulls)) {
		l.settle(l.pulls[number])
	}
	clear(l.pulls)
	l.config.drawn, l.config.starts = false, 0
	n, err := strconv.Atoi(r.Fingerprint["arms"])
	if err == nil && n > 0 && n <= mostArms {
		l.arm(n - 1)
	}
	for i, a := range r.Arms[:min(len(r.Arms), mostArms)] {
		at := l.arm(i) // which may move the searches
		l.arms[at].known(a)
	}
}

// known completes the name of a search by what its run knows of it.
func (a *arm) known(told journal.Arm) {
	if told.Seed != nil {
		a.name += fmt.Sprintf(", seed %d", *told.Seed)
	}
}

// mostArms bounds the searches of a run: a journal that was written by hand must not fill the memory with a number.
const mostArms = 1 << 16

// arm returns the number in the runLog of the i-th search of the run, which it makes if it is not there yet.
func (l *runLog) arm(i int) int {
	at := l.config.first + i
	for len(l.arms) <= at {
		name := fmt.Sprintf("search %d", len(l.arms)-l.config.first+1)
		if l.config.runs > 1 {
			name = fmt.Sprintf("run %d, %s", l.config.runs, name)
		}
		l.arms = append(l.arms, arm{name: name, run: l.config.runs, born: map[int]int{}})
	}
	return at
}

// evaluation takes in what a program scored. Those before the first draw are of the programs that searches begin with.
// Newer journals tell that in records of their own, after them.
func (l *runLog) evaluation(r journal.Record) {
	if r.Result == nil {
		return
	}
	l.meters.evaluations++
	l.meters.evalTime += r.Took
	l.programs.judge(r.Program, r.Result.Valid, short(r.Result.Reason))
	if l.config.drawn {
		return
	}
	// Equal programs are evaluated once, so one score may be that of several searches.
	for i := range l.arms[l.config.first:] {
		if a := &l.arms[l.config.first+i]; a.program == "" || i >= l.config.starts {
			l.begins(a, r.Program, scored{r.Result.Score, r.Result.Valid})
		}
	}
	l.config.starts++
}

// start takes in what a search begins with.
func (l *runLog) start(r journal.Record) {
	if r.Arm != nil && *r.Arm >= 0 && *r.Arm < mostArms {
		at := l.arm(*r.Arm)
		l.begins(&l.arms[at], r.Program, scored{r.Score, r.Valid})
	}
}

// begins notes the initial program of a search.
func (l *runLog) begins(a *arm, program string, start scored) {
	if start.score != finite(start.score) {
		start = scored{}
	}
	a.program, a.start = shortKey(program), start
	if a.step == 0 {
		a.best = start
	}
	l.programs.pin(a.program)
}

// draw takes in that a search was drawn.
func (l *runLog) draw(r journal.Record) {
	if r.Pull == nil || r.Arm == nil || *r.Arm < 0 || *r.Arm >= mostArms {
		return
	}
	l.config.drawn = true
	at := l.arm(*r.Arm)
	a := &l.arms[at]
	a.step++
	l.pulls[*r.Pull] = &pull{arm: at, round: l.rounds.draw(at, r, l.clock.now()), step: a.step, before: a.best,
		rows: map[[3]int]int{}, first: math.MaxInt, entries: map[int]entry{}}
}

// report takes in that the reward of a pull was reported. Its children stay as they are.
func (l *runLog) report(r journal.Record) {
	if r.Pull == nil {
		return
	}
	p := l.pulls[*r.Pull]
	if p == nil {
		return
	}
	delete(l.pulls, *r.Pull)
	l.settle(p)
	best, _ := l.best()
	l.rounds.report(p.round, r.Reward, best.score, l.clock.now())
}

// settle books the children of a pull.
func (l *runLog) settle(p *pull) {
	for _, at := range slices.Sorted(maps.Keys(p.entries)) {
		l.ledgers.add(p.entries[at])
		l.places.settle(&l.rows, at)
	}
}

// armList returns what the page shows of the searches.
func (l *runLog) armList() []armState {
	list := make([]armState, 0, len(l.arms))
	for _, a := range l.arms {
		list = append(list, armState{Name: a.name, Start: a.start.score, Valid: a.start.valid, Program: a.program})
	}
	return list
}
