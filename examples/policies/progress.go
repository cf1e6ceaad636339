package main

import (
	"fmt"
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows tables as they are ready and, on a terminal, a bar of runs below them. Its methods may be
// called from several goroutines.
type progress struct {
	out  io.Writer
	bars *mpb.Progress // nil if out is not a terminal
	bar  *mpb.Bar
}

func newProgress(out io.Writer, runs int) *progress {
	p := &progress{out: out}
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(48))
	p.bar = p.bars.AddBar(int64(runs), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	p.out = p.bars
	return p
}

func (p *progress) step() {
	if p.bar != nil {
		p.bar.Increment()
	}
}

func (p *progress) print(table string) { fmt.Fprintln(p.out, table) }

// close takes the bar away.
func (p *progress) close() {
	if p.bars != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}
