package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A Board shows several simultaneous activities. On a terminal it is a table below the printed lines, with a bar in
// each row. It is safe for concurrent use.
type Board struct {
	out  io.Writer
	bars *mpb.Progress // nil if standard output is not a terminal
	rows []*mpb.Bar
	mu   sync.Mutex
	text []string // behind each bar
	deaf func() bool
	more workersRow
	logs func() // ends logAbove
}

// A BoardRow is a row of a [Board].
type BoardRow struct {
	Name  string
	Total int // end of its bar
}

// NewBoard returns a Board on standard output. workers, unless it is nil, returns the workers that score programs,
// which are shown too. When ctx ends the Board says that the program is stopping.
func NewBoard(ctx context.Context, rows []BoardRow, workers func() Workers) *Board {
	b := &Board{out: Stdout(), text: make([]string, len(rows))}
	notices, start := Stderr(), ""
	if term.IsTerminal(int(os.Stdout.Fd())) {
		b.draw(rows)
		notices, start = b.out, "\r" // the terminal shows ^C where the cursor was
	}
	b.more.begin(b.bars, b.out, workers)
	b.deaf = context.AfterFunc(ctx, func() {
		fmt.Fprintln(notices, start+stopping)
	})
	return b
}

// draw begins the bars.
func (b *Board) draw(rows []BoardRow) {
	b.bars = mpb.New(mpb.WithOutput(os.Stdout), mpb.WithWidth(24))
	b.out = clean{b.bars}
	b.logs = logAbove(b.bars)
	for i, row := range rows {
		b.rows = append(b.rows, b.bars.AddBar(int64(row.Total),
			mpb.PrependDecorators(decor.Name(printable.Line(row.Name), decor.WCSyncSpaceR),
				decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.behind(i) }))))
	}
}

// behind returns the text behind a bar.
func (b *Board) behind(row int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text[row]
}

// Set sets a row's progress, and the text behind its bar.
func (b *Board) Set(row, done int, text string) {
	b.mu.Lock()
	b.text[row] = printable.Line(text)
	b.mu.Unlock()
	if b.bars != nil {
		b.rows[row].SetCurrent(int64(done))
	}
}

// Live reports whether the table is shown.
func (b *Board) Live() bool { return b.bars != nil }

// Printf prints a line above the table.
func (b *Board) Printf(format string, args ...any) { fmt.Fprintf(b.out, format+"\n", args...) }

// Close leaves the table in place, after all printed lines have appeared.
func (b *Board) Close() {
	b.deaf()
	b.more.close()
	if b.bars == nil {
		return
	}
	b.logs()
	for _, row := range b.rows {
		row.Abort(false)
	}
	b.bars.Wait()
}
