package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// A Hint is a finding from a program's text, made without running the program.
type Hint struct {
	Line   int     // from 1; 0 means the program as a whole
	Kind   string  // the kind of finding, in a word or two: "temporaries"
	Text   string  // one line for the model, with "may" where a text proves nothing
	Weight float64 // severity in [0, 1]; 0 means only a remark
}

// Hints finds hints in the text of a program. Equal programs must have equal hints: they enter prompts, which a resumed
// run must repeat. Programs are hostile, so Hints must not run them. An error means no hints. Implementations are safe
// for concurrent use.
//
// [WithHints] identifies a Hints by its method Fingerprint() string, or else its String.
type Hints interface {
	Hints(program string) ([]Hint, error)
}

// HintsFunc makes Hints of a function.
type HintsFunc func(program string) ([]Hint, error)

var _ Hints = HintsFunc(nil)

// Hints calls f.
func (f HintsFunc) Hints(program string) ([]Hint, error) { return f(program) }

// String returns "task.HintsFunc" for every f.
func (f HintsFunc) String() string { return "task.HintsFunc" }

// unit returns w limited to [0, 1], and 0 for NaN.
func unit(w float64) float64 {
	if math.IsNaN(w) {
		return 0
	}
	return min(max(w, 0), 1)
}

// Bounds of the hints that are kept.
const (
	keptHints     = 100     // their number
	maxHint       = 160     // bytes of a text
	maxKind       = 40      // bytes of a kind
	rememberBytes = 8 << 20 // bytes of the hints of all programs
)

// Remembered returns h with a memory of up to 8 MiB of hints, so that equal programs are read once. A panic becomes an
// error. Hints are sorted, the heaviest first and then by line, and cleaned: one line of text each, at most 100,
// weights in [0, 1], no duplicates. Errors are remembered too, so that equal prompts stay equal. Remembered returns h
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

// found is the findings in one program.
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

// tidy sorts and cleans hints for Remembered.
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

// hintsName returns what identifies a Hints across processes. It never contains an address.
func hintsName(h Hints) string {
	switch v := h.(type) {
	case interface{ Fingerprint() string }:
		return v.Fingerprint()
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprintf("%T", h)
}

// hintSection returns the section of hints of a program, whose name in a prompt is of: the heaviest last.
func hintSection(of string, hints []Hint) Section {
	s := Section{Name: ShowHints, Title: "Seen in the text of " + of + ", without running it"}
	for _, h := range slices.Backward(tidy(hints)) {
		if h.Line > 0 {
			h.Text = fmt.Sprintf("line %d: %s", h.Line, h.Text)
		}
		s.Lines = append(s.Lines, h.Text)
	}
	return s
}
