package view

import (
	"fmt"
	"testing"
)

// A runLog asks for texts that it does not keep all at once, as each time may be a reading of a large journal.
func TestSourceIsAskedAllAtOnce(t *testing.T) {
	const children, lines = 600, 2000 // of 66 kB each
	l := newLog("1", "large")
	madeRecords(children, lines, l.Add)
	var asked [][]string
	l.SetSource(func(keys []string) map[string]string {
		asked = append(asked, keys)
		texts := map[string]string{}
		for _, key := range keys {
			texts[key] = fmt.Sprintf("text of %s\n", key)
		}
		return texts
	})
	s := l.State(rowCursor{})
	if len(asked) != 1 || len(asked[0]) < 10 {
		t.Fatalf("a line of %d programs is asked for in %d parts", len(s.Line), len(asked))
	}
	for i, step := range s.Line[1:] {
		if step.Diff == nil && s.Line[i].Program != "" {
			t.Errorf("step %d of the line has no diff", i+1)
		}
	}
	if l.State(rowCursor{}); len(asked) != 1 {
		t.Errorf("a line that is known is asked for %d times more", len(asked)-1)
	}
	if s = l.Saved(); len(asked) != 2 {
		t.Errorf("the programs of a report are asked for in %d parts", len(asked)-1)
	}
	if n := len(s.Programs); n < 60 || n+s.Omitted < children {
		t.Errorf("a report of %d children has %d programs, and leaves out %d", children, n, s.Omitted)
	}
}
