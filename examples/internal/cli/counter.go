package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// A Counter shows text as it is ready and, where standard output is a terminal, a bar below it with the time that is left.
// Its methods may be called from several goroutines.
type Counter struct {
	out  io.Writer
	bars *mpb.Progress // nil if standard output is no terminal
	bar  *mpb.Bar
}

// NewCounter returns a Counter to n of what, a plural. Text is printed to out; no bar is drawn unless out is [Stdout].
func NewCounter(out io.Writer, n int, what string) *Counter {
	c := &Counter{out: out}
	if out != Stdout() || !term.IsTerminal(int(os.Stdout.Fd())) {
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
