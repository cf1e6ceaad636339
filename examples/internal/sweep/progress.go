package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// A progress shows a sweep while it goes on: on a terminal a table of its methods, and elsewhere a line for each
// run that ends. The sweep calls observe from one goroutine at a time.
type progress struct {
	board *cli.Board
	row   map[group]int
	rows  []standing // of the table; the last is of all
	runs  map[string]spent
	began time.Time
	known int // calls of runs that were finished before
}

// A group is a row of the table.
type group struct {
	task, model, method string
	n                   int
}

// A standing is how far a row is.
type standing struct {
	runs, over     int // of the group, and those that are over
	calls, planned int
	cost           float64
	t              int     // generations of its largest budget
	deep           int     // runs of that budget that are over
	sum            float64 // of their best scores
}

// spent is what a run has spent so far.
type spent struct {
	calls int
	cost  float64
}

func groupOf(r sweep.Trial) group { return group{r.Task, r.Model, r.Method, r.N} }

func (g group) String() string { return fmt.Sprintf("%s %s %s N=%d", g.task, g.model, g.method, g.n) }

// newProgress begins to show a plan of so many calls. workers returns those that score programs, if it is not nil.
func newProgress(ctx context.Context, p sweep.Plan, calls int, workers func() cli.Workers) *progress {
	pr := &progress{row: map[group]int{}, runs: map[string]spent{}, began: time.Now()}
	var rows []cli.BoardRow
	for _, r := range p.Runs() {
		g := groupOf(r)
		i, found := pr.row[g]
		if !found {
			i = len(rows)
			pr.row[g] = i
			rows, pr.rows = append(rows, cli.BoardRow{Name: g.String()}), append(pr.rows, standing{})
		}
		rows[i].Total += r.Calls()
		pr.rows[i].runs++
		pr.rows[i].t = max(pr.rows[i].t, r.T)
		pr.rows[i].planned += r.Calls()
	}
	all := standing{planned: calls}
	for _, s := range pr.rows {
		all.runs += s.runs
	}
	pr.rows = append(pr.rows, all)
	pr.board = cli.NewBoard(ctx, append(rows, cli.BoardRow{Name: "all", Total: calls}), workers)
	return pr
}

// observe takes in an event and shows what it changes.
func (p *progress) observe(e sweep.Event) {
	if e.Kind == sweep.EventDecided {
		p.board.Printf("every comparison is decided: no more runs begin")
		return
	}
	before := p.runs[e.Run.String()]
	now := spent{max(before.calls, e.Calls), max(before.cost, e.Cost)}
	p.runs[e.Run.String()] = now
	if e.Kind == sweep.EventKnown {
		p.known += e.Calls
	}
	over := e.Kind == sweep.EventKnown || e.Kind == sweep.EventEnd
	for _, i := range []int{p.row[groupOf(e.Run)], len(p.rows) - 1} {
		s := &p.rows[i]
		s.calls += now.calls - before.calls
		s.cost += now.cost - before.cost
		if over {
			s.over++
			if e.Run.T == s.t {
				s.deep++
				s.sum += e.Best
			}
		}
		p.board.Set(i, s.calls, p.text(i))
	}
	if over {
		delete(p.runs, e.Run.String())
	}
	p.print(e)
}

// text is what stands behind a row's bar.
func (p *progress) text(i int) string {
	s := p.rows[i]
	text := fmt.Sprintf(" %d/%d runs", s.over, s.runs)
	if i < len(p.rows)-1 {
		if s.deep > 0 {
			text += fmt.Sprintf(", mean best %.4f", s.sum/float64(s.deep))
		}
		return text
	}
	if left, known := p.timeLeft(); known {
		text += fmt.Sprintf(", %v left", left)
	}
	if s.cost > 0 {
		text += fmt.Sprintf(", cost %.2f of about %.2f", s.cost, s.cost*float64(s.planned)/float64(max(s.calls, 1)))
	}
	return text
}

// timeLeft returns how long the calls that are left take if they take as long as those that were made.
func (p *progress) timeLeft() (time.Duration, bool) {
	all := p.rows[len(p.rows)-1]
	made := all.calls - p.known
	if made < 1 {
		return 0, false
	}
	each := time.Since(p.began) / time.Duration(made)
	return (each * time.Duration(max(all.planned-all.calls, 0))).Round(time.Second), true
}

// print prints the lines that an event is worth. With a table those of runs that end as they should are left out.
func (p *progress) print(e sweep.Event) {
	switch {
	case e.Kind == sweep.EventPause && e.Limit != "":
		p.board.Printf("%v is left unfinished after %d calls, as too many attempts stalled; with a larger --max-stalls "+
			"it goes on", e.Run, e.Calls)
	case e.Kind == sweep.EventEnd && !p.board.Live():
		p.board.Printf("%v best %.6f; all:%s", e.Run, e.Best, p.text(len(p.rows)-1))
	}
}

// close ends the table, and says how much was finished before.
func (p *progress) close() {
	p.board.Close()
	if p.known > 0 {
		cli.Printf("%d calls were made by earlier processes, in runs that they finished\n", p.known)
	}
}
