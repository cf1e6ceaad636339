package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// A Hint is something that was seen in a program by reading its text, without running it.
type Hint struct {
	Line   int     // from 1; 0 means the program as a whole
	Kind   string  // what was seen, in a word or two: "temporaries"
	Text   string  // one line for the model, which says "may" of what a text cannot settle
	Weight float64 // how much it speaks against the program, in [0, 1]; 0 means that it is only said
}

// Hints finds what can be seen in the text of a program. Equal programs have equal hints: they enter prompts, and a
// resumed run has to ask the same. A program is hostile, so it is read and not run. An error means that nothing is known.
// Implementations are safe for concurrent use.
//
// [WithHints] tells a run with hints from one without by the method Fingerprint() string of a Hints, or else its String.
type Hints interface {
	Hints(program string) ([]Hint, error)
}

// HintsFunc makes Hints of a function.
type HintsFunc func(program string) ([]Hint, error)

var _ Hints = HintsFunc(nil)

// Hints calls f.
func (f HintsFunc) Hints(program string) ([]Hint, error) { return f(program) }

// String returns "task.HintsFunc" for every f, as what a function does cannot be printed.
func (f HintsFunc) String() string { return "task.HintsFunc" }

// unit returns w within [0, 1], and 0 for what is not a number.
func unit(w float64) float64 {
	if math.IsNaN(w) {
		return 0
	}
	return min(max(w, 0), 1)
}

// What is kept of the hints of one program.
const (
	keptHints     = 100     // their number
	maxHint       = 160     // bytes of a text
	maxKind       = 40      // and of a kind
	rememberBytes = 8 << 20 // of the hints of all programs
)

// Remembered returns h behind a memory and a guard. Equal programs are read once, of up to 8 MiB of hints. A panic is an
// error. What h returns is in order: the heaviest hints first, then by line, one line of text each, at most 100, weights
// in [0, 1], none twice. An error is remembered too, so that a prompt is the same each time that it is made. It returns h
// itself if that is remembered already. It panics if h is nil.
func Remembered(h Hints) Hints {
	if h == nil {
		panic("task: Remembered(nil): need Hints")
	}
	if r, ok := h.(*remembered); ok {
		return r
	}
	return &remembered{h, memo.New(rememberBytes, found.size)}
}

type remembered struct {
	h     Hints
	table *memo.Table[found]
}

// found is what was found in one program.
type found struct {
	hints []Hint
	err   error
}

func (f found) size() int {
	n := 256
	for _, h := range f.hints {
		n += 64 + len(h.Kind) + len(h.Text)
	}
	return n
}

func (r *remembered) Hints(program string) ([]Hint, error) {
	f, err := r.table.Do(context.Background(), sha256.Sum256([]byte(program)), func() (found, error) {
		hints, err := guarded(r.h, program)
		return found{tidy(hints), err}, nil
	})
	return slices.Clone(f.hints), cmp.Or(err, f.err)
}

func (r *remembered) String() string { return hintsName(r.h) }

// guarded returns the hints of h, and a panic as an error.
func guarded(h Hints, program string) (hints []Hint, err error) {
	defer func() {
		if v := recover(); v != nil {
			hints, err = nil, fmt.Errorf("task: hints of %s panicked: %v", hintsName(h), v)
		}
	}()
	return h.Hints(program)
}

// tidy returns hints as Remembered promises them.
func tidy(hints []Hint) []Hint {
	var out []Hint
	for _, h := range hints {
		h.Text, h.Kind = clip(printable.Line(h.Text), maxHint), clip(printable.Line(h.Kind), maxKind)
		h.Line, h.Weight = max(h.Line, 0), unit(h.Weight)
		if h.Text != "" {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b Hint) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Text, b.Text))
	})
	out = slices.Compact(out)
	return slices.Clip(out[:min(len(out), keptHints)])
}

// hintsName returns what tells one Hints from another across processes. It never prints an address.
func hintsName(h Hints) string {
	switch v := h.(type) {
	case interface{ Fingerprint() string }:
		return v.Fingerprint()
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprintf("%T", h)
}

// shownHints is how many hints of one program a prompt shows.
const shownHints = 12

// hintLines returns the heaviest of hints in quoted lines, in order of the program's lines.
func hintLines(hints []Hint) string {
	hints = tidy(hints)
	if len(hints) == 0 {
		return ""
	}
	more := max(len(hints)-shownHints, 0)
	hints = hints[:len(hints)-more]
	slices.SortStableFunc(hints, func(a, b Hint) int { return cmp.Compare(a.Line, b.Line) })
	var b strings.Builder
	b.WriteString("> Seen in the program's text, without running it:\n")
	for _, h := range hints {
		if h.Line > 0 {
			fmt.Fprintf(&b, "> line %d: %s\n", h.Line, h.Text)
		} else {
			fmt.Fprintf(&b, "> %s\n", h.Text)
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "> and %d more\n", more)
	}
	return b.String() + "\n"
}
