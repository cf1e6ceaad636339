package view

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// Bounds of a diff. A text of more bytes or lines is not compared; long lines and diffs are cut.
const (
	mostCompared  = 2 << 20
	mostLines     = 50_000
	longestChange = 2 << 10  // of a line
	mostDiff      = 64 << 10 // of a whole diff
	diffContext   = 3        // lines around a change
	mostDiffs     = 512      // in the cache: more than the champion's lines of two runs
)

// diff returns the changes between two of the texts, or nil if one is missing. It computes them once.
func (s *shown) diff(from, to string, texts map[string]string) []lineChange {
	before, ok := texts[from]
	after, found := texts[to]
	if !ok || !found {
		return nil
	}
	key := [2]string{from, to}
	s.mu.Lock()
	changes, ok := s.diffs[key]
	s.mu.Unlock()
	if ok {
		return changes
	}
	if changes, ok = s.bases.treeDiff(before, after); !ok {
		changes = diff(before, after)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.diffs) >= mostDiffs {
		clear(s.diffs)
	}
	s.diffs[key] = changes
	return changes
}

// diff returns the changes from before to after, by line. It is never nil, which means unknown elsewhere.
func diff(before, after string) []lineChange {
	if len(before)+len(after) > mostCompared || strings.Count(before, "\n")+strings.Count(after, "\n") > mostLines {
		return []lineChange{leftOut("%d and %d bytes are too many to be compared by line", len(before), len(after))}
	}
	d := differ{changes: []lineChange{}}
	d.add(before, after)
	return d.changes
}

// add adds the changes from one text to another.
func (d *differ) add(before, after string) {
	before, after = endLine(before), endLine(after)
	unified, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), diffContext)
	if err != nil {
		d.changes = append(d.changes, leftOut("they cannot be compared: %v", err))
		return
	}
	for _, h := range unified.Hunks {
		d.hunk(h)
	}
	if d.before > 0 {
		d.skip(strings.Count(before, "\n") + 1 - d.before)
	}
}

// leftOut returns a change that stands for hidden lines.
func leftOut(format string, args ...any) lineChange {
	return lineChange{Op: "@", Text: fmt.Sprintf(format, args...)}
}

// endLine ends the last line of a text, so that a missing line end is not shown as a change.
func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// A differ collects the changes of a diff.
type differ struct {
	changes       []lineChange
	before, after int // the numbers of the next lines; 0 at the beginning
	size          int // of the texts so far
	full          bool
}

// hunk adds one hunk, preceded by the number of lines skipped since the previous one.
func (d *differ) hunk(h *udiff.Hunk) {
	if d.before == 0 {
		d.before, d.after = 1, 1
	}
	d.skip(h.FromLine - d.before)
	for _, line := range h.Lines {
		op := map[udiff.OpKind]string{udiff.Delete: "-", udiff.Insert: "+", udiff.Equal: " "}[line.Kind]
		d.line(op, line.Content)
	}
}

// skip adds a note that n equal lines are hidden.
func (d *differ) skip(n int) {
	if n <= 0 || d.full {
		return
	}
	c := leftOut("%d equal lines", n)
	c.Old, c.New = d.before, d.after
	d.changes = append(d.changes, c)
	d.before += n
	d.after += n
}

// line adds one line to the last change, or begins a new one.
func (d *differ) line(op, text string) {
	if !d.full && d.size > mostDiff {
		d.full = true
		d.changes = append(d.changes, leftOut("the rest of the changes"))
	}
	if !d.full {
		text = cutLine(text)
		d.size += len(text)
		if last := len(d.changes) - 1; last >= 0 && d.changes[last].Op == op {
			d.changes[last].Text += text
		} else {
			d.changes = append(d.changes, lineChange{Op: op, Text: text, Old: d.before, New: d.after})
		}
	}
	if op != "+" {
		d.before++
	}
	if op != "-" {
		d.after++
	}
}

// cutLine cuts a long line and appends the number of bytes cut.
func cutLine(text string) string {
	if len(text) <= longestChange {
		return text
	}
	cut := strings.ToValidUTF8(text[:longestChange], "")
	return fmt.Sprintf("%s … %d bytes more\n", cut, len(text)-len(cut))
}
