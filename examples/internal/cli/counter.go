package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// A Counter shows text as it is ready and, where standard output is a terminal, a bar below it with the time that
// is left. Where it is none, a line on standard error says every few seconds how far it is. Its methods may be
// called from several goroutines.
type Counter struct {
	out  io.Writer
	bars *mpb.Progress // nil if standard output is no terminal
	bar  *mpb.Bar

	mu    sync.Mutex
	notes io.Writer // for lines in place of a bar; nil for none
	what  string
	of    int
	done  int
	next  time.Time // of the next line
}

// between is the time between two lines in place of a bar.
const between = 5 * time.Second

// NewCounter returns a Counter to n of what, a plural. Text is printed to out; neither a bar nor lines in its place are
// shown unless out is [Stdout].
func NewCounter(out io.Writer, n int, what string) *Counter {
	c := &Counter{out: out, what: what, of: n, next: time.Now().Add(between)}
	switch {
	case out != Stdout():
		return c
	case !term.IsTerminal(int(os.Stdout.Fd())):
		c.notes = Stderr()
		return c
	}
	c.bars = mpb.New(mpb.WithOutput(os.Stdout), mpb.WithWidth(48))
	c.bar = c.bars.AddBar(int64(n), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d "+what+" ")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	c.out = clean{c.bars}
	return c
}

// Step counts one.
func (c *Counter) Step() {
	if c.bar != nil {
		c.bar.Increment()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if now := time.Now(); c.notes != nil && !now.Before(c.next) {
		c.next = now.Add(between)
		fmt.Fprintf(c.notes, "%d/%d %s\n", c.done, c.of, c.what)
	}
}

// Print prints text and a line end.
func (c *Counter) Print(text string) { fmt.Fprintln(c.out, text) }

// Close takes the bar away.
func (c *Counter) Close() {
	if c.bars != nil {
		c.bar.Abort(true)
		c.bars.Wait()
	}
}
