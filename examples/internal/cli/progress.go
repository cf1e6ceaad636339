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

// A Progress shows a long run: a line for each improvement, or for each generation, and, on a terminal, a bar of model
// calls below them. It is safe for concurrent use.
type Progress struct {
	head string // head of the lines; "" once printed
	line func(evolve.Event) string
	mu   sync.Mutex
	out  io.Writer
	bars *mpb.Progress // nil if out is not a terminal
	bar  *mpb.Bar
	best eval.Candidate // of the children
	cost float64        // money so far; 0 without prices
	paid bool           // the models have prices, so each line ends with the money so far
	top  eval.Candidate // of the run, when the last line was printed
	said time.Time      // when that was
	bad  complaint      // of consecutive generations without a scored child
	why  string         // the reason of the last complaint
	deaf func() bool    // stops waiting for the end of ctx
	more workersRow
	logs func() // ends logAbove
}

// NewProgress returns a Progress of a run on standard output: line returns the line of an ended generation, under the
// line head. Workers that score programs are shown too. When ctx ends the Progress says that the run is stopping.
func (o *Options) NewProgress(ctx context.Context, head string, line func(evolve.Event) string) *Progress {
	p := &Progress{head: head, line: line, out: Stdout(), paid: o.prices != ""}
	if p.paid {
		p.head += "      money"
	}
	notices, start := Stderr(), ""
	if term.IsTerminal(int(os.Stdout.Fd())) {
		p.draw(o.T * o.N)
		notices = p.bars // since bars paint over other output
		start = "\r"     // the terminal shows ^C where the cursor was
	}
	p.more.begin(p.bars, p.out, o.Workers)
	p.deaf = context.AfterFunc(ctx, func() {
		fmt.Fprintln(notices, start+stopping)
	})
	return p
}

// stopping is what a run says at Ctrl-C.
const stopping = "stopping: calls under way may finish (--grace); Ctrl-C again ends at once"

// draw begins the bar.
func (p *Progress) draw(calls int) {
	p.bars = mpb.New(mpb.WithOutput(os.Stdout), mpb.WithWidth(48))
	p.bar = p.bars.AddBar(0, // without a total it stays until Close
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d calls ")),
		mpb.AppendDecorators(
			decor.Any(func(decor.Statistics) string { return p.sofar() }),
			decor.AverageETA(decor.ET_STYLE_GO)))
	p.bar.SetTotal(int64(calls), false)
	p.out = clean{p.bars}
	p.logs = logAbove(p.bars)
}

// quiet is the time without a line after which any generation gets one, so that a log shows progress.
const quiet = time.Minute

// Observe prints the lines for an event, and counts answers. It fits evolve.Config.Observer. It prints nothing before
// the first draw, since a run may be refused until then.
func (p *Progress) Observe(e evolve.Event) {
	switch e.Kind {
	case evolve.EventDraw:
		if p.head != "" {
			p.printf("%s", p.head)
			p.head, p.said = "", time.Now()
		}
	case evolve.EventChild:
		p.child(e.Child)
		p.count(e)
	case evolve.EventGeneration:
		if e.Best.Better(p.top) || time.Since(p.said) >= quiet {
			line := p.line(e)
			if p.paid {
				line += fmt.Sprintf("  %9.4g", e.Ledger.Spent.Money)
			}
			p.printf("%s", line)
			p.said = time.Now()
		}
		p.top = e.Best
		p.count(e)
		p.complain(e.Generation)
	}
}

// printf prints a line above the bar.
func (p *Progress) printf(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// count shows the answered calls and the money so far.
func (p *Progress) count(e evolve.Event) {
	p.mu.Lock()
	p.cost = e.Ledger.Spent.Money
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(int64(e.Ledger.Spent.Calls))
	}
}

// child takes in a child's score.
func (p *Progress) child(c evolve.Child) {
	p.mu.Lock()
	if c.Better(p.best) {
		p.best = c.Candidate
	}
	p.mu.Unlock()
}

// telling is the number of consecutive children without a score that are worth a line. Fewer may be chance, if a
// generation has one or two children.
const telling = 8

// complain prints the most frequent reason why the children of the latest generations have no score, if there are
// enough of them, none has a score, and the reason is new. It ignores a generation that was cut short.
func (p *Progress) complain(g evolve.Generation) {
	if g.Partial {
		return
	}
	if c, tell := p.latest(g); tell {
		p.printf("%v", &c)
	}
}

// latest returns the complaint at the end of g, and reports whether to print it.
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

// sofar returns the best score of the children so far, if there is one, and the money if it is known.
func (p *Progress) sofar() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := " "
	if p.best.Result.Valid {
		text += fmt.Sprintf("best %.6f ", p.best.Result.Score)
	}
	if p.cost > 0 {
		text += fmt.Sprintf("money %.4g ", p.cost)
	}
	return text
}

// Close removes the bar, after all printed lines have appeared.
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
