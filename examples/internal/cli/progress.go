package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// A Progress shows a long run: a line for each better best, or for each generation, and, on a terminal, a bar of model
// calls below them. It is safe for concurrent use.
type Progress struct {
	head string // stands above the lines; "" once it is printed
	line func(evolve.Event) string
	mu   sync.Mutex
	out  io.Writer
	bars *mpb.Progress // nil if out is no terminal
	bar  *mpb.Bar
	best eval.Candidate // of the children
	top  eval.Candidate // of the run, when the last line was printed
	said time.Time      // when that was
	rows bool           // a line for each generation
	bad  complaint      // of the generations in a row in which no child has a score
	why  string         // the reason complained of last
	deaf func() bool    // no longer waits for ctx to end
	more workersRow
	logs func() // ends logAbove
}

// NewProgress returns a Progress of a run on standard output: line is what is printed of a generation that ended,
// under the line head. Workers that score programs are shown as well. When ctx ends it says that the run is
// stopping.
func (o *Options) NewProgress(ctx context.Context, head string, line func(evolve.Event) string) *Progress {
	p := &Progress{head: head, line: line, out: Stdout(), rows: o.Rows}
	notices, start := Stderr(), ""
	if term.IsTerminal(int(os.Stdout.Fd())) {
		p.draw(o.T * o.N)
		notices = p.bars // it would paint over what came by another way
		start = "\r"     // the terminal shows ^C where the cursor was
	}
	p.more.begin(p.bars, p.out, o.Workers)
	p.deaf = context.AfterFunc(ctx, func() {
		fmt.Fprintln(notices, start+"stopping: calls under way may finish (--grace); Ctrl-C again ends at once")
	})
	return p
}

// draw begins the bar.
func (p *Progress) draw(calls int) {
	p.bars = mpb.New(mpb.WithOutput(os.Stdout), mpb.WithWidth(48))
	p.bar = p.bars.AddBar(int64(calls), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d calls ")),
		mpb.AppendDecorators(
			decor.Any(func(decor.Statistics) string { return p.bestText() }),
			decor.AverageETA(decor.ET_STYLE_GO)))
	p.out = clean{p.bars}
	p.logs = logAbove(p.bars)
}

// quiet is after how much time without a line a generation has one, so that a log shows that the run goes on.
const quiet = time.Minute

// Observe prints what is worth a line in an event, and counts children. It fits evolve.Config.Observer. Nothing is
// printed before the first draw, as a run may be refused until then.
func (p *Progress) Observe(e evolve.Event) {
	switch e.Kind {
	case evolve.EventDraw:
		if p.head != "" {
			p.printf("%s", p.head)
			p.head, p.said = "", time.Now()
		}
	case evolve.EventChild:
		p.child(e.Child)
	case evolve.EventGeneration:
		if p.rows || e.Best.Better(p.top) || time.Since(p.said) >= quiet {
			p.printf("%s", p.line(e))
			p.said = time.Now()
		}
		p.top = e.Best
		p.complain(e.Generation)
	}
}

// printf prints a line above the bar.
func (p *Progress) printf(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// child counts a call as done.
func (p *Progress) child(c evolve.Child) {
	p.mu.Lock()
	if c.Better(p.best) {
		p.best = c.Candidate
	}
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.Increment()
	}
}

// telling is how many children in a row without a score are worth a line. Fewer may be chance, where a generation
// has one child or two.
const telling = 8

// complain prints the most frequent reason why the children of the latest generations have no score, if there are
// enough of them, none has one, and it is not the reason printed last. A generation that was cut short is left out.
func (p *Progress) complain(g evolve.Generation) {
	if g.Partial {
		return
	}
	if c, tell := p.latest(g); tell {
		p.printf("%v", &c)
	}
}

// latest returns what is to be complained of once g has ended, and reports whether there is something.
func (p *Progress) latest(g evolve.Generation) (c complaint, tell bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad.add(g)
	c = p.bad
	if c.bad == c.of && c.bad < telling {
		return c, false // more may come
	}
	p.bad = complaint{}
	if c.bad < c.of || c.most == p.why {
		return c, false
	}
	p.why = c.most
	return c, true
}

// bestText tells the best score of the children so far, once one has a score.
func (p *Progress) bestText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.best.Result.Valid {
		return " "
	}
	return fmt.Sprintf(" best %.6f ", p.best.Result.Score)
}

// Close takes the bar away. Every line printed stands by then.
func (p *Progress) Close() {
	p.deaf()
	p.more.close()
	if p.bars == nil {
		return
	}
	p.logs()
	p.bar.Abort(true)
	p.bars.Wait()
}
